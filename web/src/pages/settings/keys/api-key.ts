import type { ApiItem, ApiResponse } from '../../../client/operations.ts';

export type ApiKey = ApiItem<'GET /app/keys'>;
export type CreatedApiKey = ApiResponse<'POST /app/keys'>;
