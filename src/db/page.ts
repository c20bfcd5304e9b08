export interface PageRequest {
  /** From 1. */
  page: number;
  pageSize: number;
}

export const MAX_PAGE_SIZE = 500;
