import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';

/** Encrypts texts that clients keep and send back. */
export interface TokenSealer {
  /** Returns the same token for the same text. Its length reveals no more than the length of the text in steps of 64. */
  seal(text: string): string;
  /** Returns the text; null: the token is not one of this sealer, or has been modified. */
  open(token: string): string | null;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const BLOCK = 64;
const ALPHABET = /^[\w-]+$/;

/**
 * Returns encryption by AES-256-GCM with keys that HKDF (RFC 5869) derives from a secret, one for each purpose. The nonce is a
 * message authentication code of the text, so that different texts have different nonces.
 */
export function tokenSealer(secret: string, purpose: string): TokenSealer {
  const derive = (use: string) =>
    Buffer.from(hkdfSync('sha256', secret, 'tipline', `${purpose}, ${use}`, 32));
  const [key, nonceKey] = [derive('encryption'), derive('nonce')];
  return {
    seal(text) {
      const padded = text.padEnd(Math.ceil(text.length / BLOCK) * BLOCK);
      const nonce = createHmac('sha256', nonceKey).update(padded).digest().subarray(0, NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const sealed = Buffer.concat([cipher.update(padded, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open(token) {
      const bytes = ALPHABET.test(token) ? Buffer.from(token, 'base64url') : Buffer.alloc(0);
      if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null;
      const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
      try {
        const text = decipher.setAuthTag(tag).update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8').trimEnd();
      } catch {
        return null;
      }
    },
  };
}
