import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';

/** Logs one line for each request: the key, the request, the status and the duration. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const line = {
      key: request.keyName,
      // The end of a response belongs to no span.
      ...request.span?.ids(),
      req: request,
      res: reply,
      responseTime: reply.elapsedTime,
    };
    if (error) reply.log.error({ ...line, err: error }, 'request errored');
    else reply.log.info(line, 'request completed');
  }
}

type Parent = FastifyBaseLogger & { isLevelEnabled?(level: string): boolean };
type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';
type Line = [object, string];

/** A child logger that is created at its first line: creating one costs a tenth of a cached response. */
class LazyLogger {
  readonly #parent: Parent;
  readonly #bindings: object;
  #child: FastifyBaseLogger | undefined;

  constructor(parent: Parent, bindings: object) {
    this.#parent = parent;
    this.#bindings = bindings;
  }

  get level() {
    return this.#parent.level;
  }
  child(...of: Parameters<FastifyBaseLogger['child']>) {
    return this.#made().child(...of);
  }
  fatal(...line: Line) {
    this.#write('fatal', line);
  }
  error(...line: Line) {
    this.#write('error', line);
  }
  warn(...line: Line) {
    this.#write('warn', line);
  }
  info(...line: Line) {
    this.#write('info', line);
  }
  debug(...line: Line) {
    this.#write('debug', line);
  }
  trace(...line: Line) {
    this.#write('trace', line);
  }

  #write(level: Level, line: Line): void {
    if (this.#parent.isLevelEnabled?.(level) ?? true) this.#made()[level](...line);
  }
  #made(): FastifyBaseLogger {
    this.#child ??= this.#parent.child(this.#bindings);
    return this.#child;
  }
}

export function lazyRequestLogs(app: FastifyInstance): void {
  app.setChildLoggerFactory(
    (logger, bindings) => new LazyLogger(logger, bindings) as unknown as FastifyBaseLogger,
  );
}
