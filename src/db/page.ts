export interface PageRequest {
  /** From 1. */
  page: number;
  pageSize: number;
}
