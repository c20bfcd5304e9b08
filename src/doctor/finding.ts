/** The result of a check. */
export interface Finding {
  check: string;
  status: 'ok' | 'warning' | 'error';
  /** The state that was found, without a full stop. */
  message: string;
  /** The action to take; absent: none. */
  remedy?: string;
}

/** A result without the name of its check. */
export type Judgement = Omit<Finding, 'check'>;

export const ok = (message: string): Judgement => ({ status: 'ok', message });
export const warning = (message: string, remedy: string): Judgement => ({
  status: 'warning',
  message,
  remedy,
});
export const error = (message: string, remedy: string): Judgement => ({ status: 'error', message, remedy });

export const megabytes = (bytes: number) => `${Math.floor(bytes / 1024 / 1024)} MB`;
