import type { Readable } from 'node:stream';
import type { Agent, Dispatcher } from 'undici';
import { unlessAborted } from './deadline.ts';
import { discard } from './decoded-body.ts';
import { transferFailure } from './failure.ts';
import { OutboundError } from './outbound-error.ts';
import { nextStep, type RequestStep } from './redirect.ts';

export interface RawAnswer {
  status: number;
  /**
   * Names in lower case, repeated ones joined by a comma; without Set-Cookie, as there is no session to keep.
   */
  headers: Record<string, string>;
  url: URL;
  /** Not yet decoded. */
  body: Readable;
}

const MAX_REDIRECTS = 5;

/**
 * Sends a request and follows its redirects. The caller reads or discards the body.
 * @throws {OutboundError}
 */
export async function exchange(
  agent: Agent,
  first: RequestStep,
  userAgent: string,
  signal: AbortSignal,
): Promise<RawAnswer> {
  let step = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await send(agent, step, userAgent, signal);
    const next = followed(step, answer, signal);
    if (next === null) {
      const { statusCode: status, body } = answer;
      return { status, headers: joined(answer.headers), url: step.url, body };
    }
    discard(answer.body);
    step = next;
  }
  throw new OutboundError('too_many_redirects', `more than ${MAX_REDIRECTS} redirects`, first.url.host);
}

async function send(
  agent: Agent,
  step: RequestStep,
  userAgent: string,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const request = agent.request({
    origin: step.url.origin,
    path: `${step.url.pathname}${step.url.search}`,
    method: step.method,
    headers: {
      'user-agent': userAgent,
      ...step.headers,
      ...step.credentials,
      'accept-encoding': 'gzip',
    },
    body: step.body,
    signal,
  });
  try {
    // undici heeds the signal only once it is connected.
    return await unlessAborted(request, signal, (late) => discard(late.body));
  } catch (error) {
    throw transferFailure(error, step.url.host, signal);
  }
}

function followed(
  step: RequestStep,
  answer: Dispatcher.ResponseData,
  signal: AbortSignal,
): RequestStep | null {
  try {
    return nextStep(step, answer.statusCode, answer.headers.location);
  } catch (error) {
    discard(answer.body);
    throw transferFailure(error, step.url.host, signal);
  }
}

function joined(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name !== 'set-cookie')
      .map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}
