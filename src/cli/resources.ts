import type { Logger } from 'pino';

/** The open resources of a server process or worker. They are closed one after the other, the last one opened first. */
export interface Resources {
  /** @param name in the log, after "closing" */
  add(name: string, close: () => Promise<void>): void;
  /**
   * Closes all. An error is logged, and the others are closed nevertheless.
   * @returns whether all could be closed
   */
  close(): Promise<boolean>;
  /** The name of the one that is being closed; null: none is. */
  closing(): string | null;
}

export function openResources(log: Pick<Logger, 'error'>): Resources {
  const open: { name: string; close: () => Promise<void> }[] = [];
  let closing: string | null = null;
  return {
    add: (name, close) => void open.unshift({ name, close }),
    async close() {
      let isClosed = true;
      for (const { name, close } of open.splice(0)) {
        closing = name;
        try {
          await close();
        } catch (err) {
          isClosed = false;
          log.error({ err }, `closing ${name} failed`);
        }
      }
      closing = null;
      return isClosed;
    },
    closing: () => closing,
  };
}
