import { type DestinationStream, type Logger, pino } from 'pino';
import { redactKeys } from '../http/redact.ts';

/** Standard output is for people; the log goes to standard error, a JSON object a line, unless a destination is given. */
export function openLog(level: string, destination: DestinationStream = pino.destination(2)): Logger {
  return pino({ level, serializers: { req: requestForLog } }, destination);
}

/** Headers stay out of the log, and so does a key that somebody put into the address. */
function requestForLog(request: { method: string; url: string; ip?: string }) {
  return { method: request.method, url: redactKeys(request.url), remoteAddress: request.ip };
}
