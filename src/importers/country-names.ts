/** ISO 3166-1: code and short English name, inhabited places only. */
const NAMES = [
  'AD Andorra|AE United Arab Emirates|AF Afghanistan|AG Antigua & Barbuda|AI Anguilla|AL Albania',
  'AM Armenia|AO Angola|AQ Antarctica|AR Argentina|AS American Samoa|AT Austria|AU Australia|AW Aruba',
  'AX Åland Islands|AZ Azerbaijan|BA Bosnia & Herzegovina|BB Barbados|BD Bangladesh|BE Belgium',
  'BF Burkina Faso|BG Bulgaria|BH Bahrain|BI Burundi|BJ Benin|BL St. Barthélemy|BM Bermuda|BN Brunei',
  'BO Bolivia|BQ Caribbean Netherlands|BR Brazil|BS Bahamas|BT Bhutan|BW Botswana|BY Belarus|BZ Belize',
  'CA Canada|CC Cocos (Keeling) Islands|CD Congo Kinshasa|CF Central African Republic',
  'CG Congo Brazzaville|CH Switzerland|CI Côte d’Ivoire|CK Cook Islands|CL Chile|CM Cameroon|CN China',
  'CO Colombia|CR Costa Rica|CU Cuba|CV Cape Verde|CW Curaçao|CX Christmas Island|CY Cyprus|CZ Czechia',
  'DE Germany|DJ Djibouti|DK Denmark|DM Dominica|DO Dominican Republic|DZ Algeria|EC Ecuador|EE Estonia',
  'EG Egypt|EH Western Sahara|ER Eritrea|ES Spain|ET Ethiopia|FI Finland|FJ Fiji|FK Falkland Islands',
  'FM Micronesia|FO Faroe Islands|FR France|GA Gabon|GB United Kingdom|GD Grenada|GE Georgia',
  'GF French Guiana|GG Guernsey|GH Ghana|GI Gibraltar|GL Greenland|GM Gambia|GN Guinea|GP Guadeloupe',
  'GQ Equatorial Guinea|GR Greece|GT Guatemala|GU Guam|GW Guinea-Bissau|GY Guyana|HK Hong Kong',
  'HN Honduras|HR Croatia|HT Haiti|HU Hungary|ID Indonesia|IE Ireland|IL Israel|IM Isle of Man|IN India',
  'IQ Iraq|IR Iran|IS Iceland|IT Italy|JE Jersey|JM Jamaica|JO Jordan|JP Japan|KE Kenya|KG Kyrgyzstan',
  'KH Cambodia|KI Kiribati|KM Comoros|KN St. Kitts & Nevis|KP North Korea|KR South Korea|KW Kuwait',
  'KY Cayman Islands|KZ Kazakhstan|LA Laos|LB Lebanon|LC St. Lucia|LI Liechtenstein|LK Sri Lanka',
  'LR Liberia|LS Lesotho|LT Lithuania|LU Luxembourg|LV Latvia|LY Libya|MA Morocco|MC Monaco|MD Moldova',
  'ME Montenegro|MF St. Martin|MG Madagascar|MH Marshall Islands|MK North Macedonia|ML Mali|MM Myanmar',
  'MN Mongolia|MO Macao|MP Northern Mariana Islands|MQ Martinique|MR Mauritania|MS Montserrat|MT Malta',
  'MU Mauritius|MV Maldives|MW Malawi|MX Mexico|MY Malaysia|MZ Mozambique|NA Namibia|NC New Caledonia',
  'NE Niger|NF Norfolk Island|NG Nigeria|NI Nicaragua|NL Netherlands|NO Norway|NP Nepal|NR Nauru|NU Niue',
  'NZ New Zealand|OM Oman|PA Panama|PE Peru|PF French Polynesia|PG Papua New Guinea|PH Philippines',
  'PK Pakistan|PL Poland|PM St. Pierre & Miquelon|PN Pitcairn Islands|PR Puerto Rico|PS Palestine',
  'PT Portugal|PW Palau|PY Paraguay|QA Qatar|RE Réunion|RO Romania|RS Serbia|RU Russia|RW Rwanda',
  'SA Saudi Arabia|SB Solomon Islands|SC Seychelles|SD Sudan|SE Sweden|SG Singapore|SH St. Helena',
  'SI Slovenia|SK Slovakia|SL Sierra Leone|SM San Marino|SN Senegal|SO Somalia|SR Suriname|SS South Sudan',
  'ST São Tomé & Príncipe|SV El Salvador|SX Sint Maarten|SY Syria|SZ Eswatini|TC Turks & Caicos Islands',
  'TD Chad|TG Togo|TH Thailand|TJ Tajikistan|TK Tokelau|TL Timor-Leste|TM Turkmenistan|TN Tunisia',
  'TO Tonga|TR Türkiye|TT Trinidad & Tobago|TV Tuvalu|TW Taiwan|TZ Tanzania|UA Ukraine|UG Uganda',
  'US United States|UY Uruguay|UZ Uzbekistan|VA Vatican City|VC St. Vincent & Grenadines|VE Venezuela',
  'VG British Virgin Islands|VI U.S. Virgin Islands|VN Vietnam|VU Vanuatu|WF Wallis & Futuna|WS Samoa',
  'YE Yemen|YT Mayotte|ZA South Africa|ZM Zambia|ZW Zimbabwe',
];

/** Other names of countries that catalogues use. */
const OTHER_NAMES: [string, string][] = [
  ['US', 'United States of America'],
  ['US', 'USA'],
  ['GB', 'Great Britain'],
  ['CN', 'Peoples Republic of China'],
  ['KP', 'Korea (Democratic Peoples Republic of)'],
  ['KP', 'Democratic Peoples Republic of Korea'],
  ['KP', 'DPRK'],
  ['KR', 'Korea (Republic of)'],
  ['KR', 'Republic of Korea'],
  ['IR', 'Iran (Islamic Republic of)'],
  ['RU', 'Russian Federation'],
  ['SY', 'Syrian Arab Republic'],
  ['TR', 'Turkey'],
  ['CZ', 'Czech Republic'],
  ['CI', 'Ivory Coast'],
  ['MO', 'Macau'],
  ['MM', 'Burma'],
  ['VN', 'Viet Nam'],
  ['TW', 'Taiwan (Province of China)'],
  ['LA', 'Lao Peoples Democratic Republic'],
  ['MD', 'Republic of Moldova'],
  ['PS', 'Palestinian Territories'],
  ['PS', 'State of Palestine'],
  ['SZ', 'Swaziland'],
  ['MK', 'Macedonia'],
  ['BN', 'Brunei Darussalam'],
  ['TZ', 'United Republic of Tanzania'],
  ['VE', 'Venezuela (Bolivarian Republic of)'],
  ['BO', 'Bolivia (Plurinational State of)'],
  ['CD', 'Democratic Republic of the Congo'],
  ['TL', 'East Timor'],
  ['CV', 'Cabo Verde'],
];

const CODE_BY_NAME = new Map<string, string>([
  ...NAMES.flatMap((line) => line.split('|')).map((entry): [string, string] => [
    key(entry.slice(3)),
    entry.slice(0, 2),
  ]),
  ...OTHER_NAMES.map(([code, name]): [string, string] => [key(name), code]),
]);

/** Reduces a name to its letters: case, accents, punctuation, `&` and articles make no difference. */
function key(name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replace(/[^a-z ]/g, '');
  return words
    .split(' ')
    .filter((word) => word !== '' && word !== 'the')
    .join(' ');
}

/**
 * Returns the ISO 3166-1 alpha-2 code of a country's English name, or of a code; null for regions, unions and
 * anything else.
 */
export function countryCodeOf(name: string): string | null {
  if (/^[A-Z]{2}$/.test(name)) return name;
  return CODE_BY_NAME.get(key(name)) ?? null;
}
