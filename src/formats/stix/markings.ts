import { TLPS, type Tlp } from '../../model/vocabulary.ts';
import { tlpName } from '../tlp-name.ts';

/** OASIS' property extension for TLP 2.0 (cti-stix-common-objects); STIX 2.1 itself knows only TLP 1.0. */
const TLP_2_EXTENSION = 'extension-definition--60a3c5c5-0d10-413e-aab3-9e08dde9e88d';

const UUID_BY_TLP: Readonly<Record<Tlp, string>> = {
  CLEAR: '94868c89-83c2-464b-929b-a1a8aa3c8487',
  GREEN: 'bab4a63c-aed9-4cf5-a766-dfca5abac2bb',
  AMBER: '55d920b0-5e8b-4f79-9ee9-91f868d9b421',
  AMBER_STRICT: '939a9414-2ddd-4d32-a0cd-375ea402b003',
  RED: 'e828b379-4e03-4974-9ac4-e53a884c97c1',
};

const MARKINGS = new Map(TLPS.map((tlp) => [tlp, definition(tlp)]));

/** The marking definition of a TLP, as OASIS publishes it: marking definitions have no `modified`. */
export function markingOf(tlp: Tlp) {
  return MARKINGS.get(tlp) ?? definition(tlp);
}

function definition(tlp: Tlp) {
  const level = tlpName(tlp).toLowerCase();
  return {
    type: 'marking-definition',
    spec_version: '2.1',
    id: `marking-definition--${UUID_BY_TLP[tlp]}`,
    created: '2022-10-01T00:00:00.000Z',
    name: `TLP:${level.toUpperCase()}`,
    extensions: { [TLP_2_EXTENSION]: { extension_type: 'property-extension', tlp_2_0: level } },
  };
}
