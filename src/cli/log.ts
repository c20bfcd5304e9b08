import { type DestinationStream, type Logger, pino } from 'pino';
import { redactKeys } from '../http/redact.ts';

/** Opens the log, one JSON object a line; by default on standard error, because standard output is for users. */
export function openLog(level: string, destination: DestinationStream = pino.destination(2)): Logger {
  return pino({ level, serializers: { req: requestForLog } }, destination);
}

/** Returns a request for the log, without headers and without API keys in its URL. */
function requestForLog(request: { method: string; url: string; ip?: string }) {
  return { method: request.method, url: redactKeys(request.url), remoteAddress: request.ip };
}
