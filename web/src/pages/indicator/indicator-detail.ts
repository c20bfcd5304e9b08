import type { ApiResponse } from '../../client/operations.ts';

/** An indicator with its context, as its page shows it. */
export type IndicatorDetail = ApiResponse<'GET /app/indicators/:id'>['data'];
