import {
  type Outbound,
  type OutboundAnswer,
  OutboundError,
  type OutboundOptions,
  type OutboundRequest,
  openOutbound,
} from '../../src/outbound/outbound.ts';

export type TestOptions = Partial<OutboundOptions>;

export interface OpenedOutbound extends Outbound {
  get(url: string, more?: Partial<OutboundRequest>): Promise<OutboundAnswer>;
}

const DEFAULTS = { maxBytes: 1_000_000, timeoutMs: 10_000 };

export function openTestOutbound(options: TestOptions): OpenedOutbound {
  const opened = openOutbound({ allowedNetworks: ['127.0.0.0/8'], userAgent: 'Tipline/test', ...options });
  return { ...opened, get: (url, more) => opened.request({ url, ...DEFAULTS, ...more }) };
}

/** The OutboundError that the promise ends with. */
export async function failureOf(promise: Promise<unknown>): Promise<OutboundError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof OutboundError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

/** The code of the OutboundError that the promise ends with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return (await failureOf(promise)).code;
}
