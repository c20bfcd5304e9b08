/** How the entries of a list match: the `type` of a MISP warninglist. */
export const LIST_KINDS = ['string', 'substring', 'hostname', 'cidr', 'regex'] as const;
export type ListKind = (typeof LIST_KINDS)[number];
