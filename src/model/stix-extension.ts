/**
 * The STIX 2.1 extension (§7.3) that carries what Tipline knows and STIX has no field for. Never to be changed: the
 * exports of every installation refer to it, and the importer knows its own objects by it.
 */
export const TIPLINE_EXTENSION = 'extension-definition--f97bf517-7c79-45ce-9637-dd8ade0e1b9f';
