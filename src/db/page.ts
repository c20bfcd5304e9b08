export interface PageRequest {
  /** From 1. */
  page: number;
  pageSize: number;
}

/** Items on a page at most. */
export const MAX_PAGE_SIZE = 500;
