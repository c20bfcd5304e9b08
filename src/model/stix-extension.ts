/**
 * The STIX 2.1 extension (§7.3) for values for which STIX has no property. Must never change: the exports of
 * every installation refer to it, and the importer recognizes Tipline's objects by it.
 */
export const TIPLINE_EXTENSION = 'extension-definition--f97bf517-7c79-45ce-9637-dd8ade0e1b9f';
