import type { ApiResponse } from '../../client/operations.ts';

/** An indicator with its context, as its page shows it. */
export type IndicatorDetail = ApiResponse<'GET /app/indicators/:id'>['data'];

/** Whether an indicator is a CIDR block. */
export function isNetwork({ type, value }: Pick<IndicatorDetail, 'type' | 'value'>): boolean {
  return (type === 'IPV4' || type === 'IPV6') && value.includes('/');
}
