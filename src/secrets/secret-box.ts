import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** A stored secret that cannot be decrypted. */
export class SecretError extends Error {
  override name = 'SecretError';
}

/** Encrypts secrets that are stored, but never shown again. */
export interface SecretBox {
  seal(text: string): string;
  /** @throws {SecretError} when the text was sealed under another secret or purpose, or has been modified */
  open(sealed: string): string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FORM = 'v1.';

/**
 * Returns encryption by AES-256-GCM with a key that HKDF (RFC 5869) derives from TIPLINE_SECRET. Each `purpose` has
 * its own key and is authenticated: a text sealed for one purpose cannot be opened for another.
 */
export function secretBox(secret: string, purpose: string): SecretBox {
  const key = Buffer.from(hkdfSync('sha256', secret, 'tipline', purpose, 32));
  return {
    seal(text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return FORM + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed.slice(FORM.length), 'base64url');
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, nonce)
          .setAAD(Buffer.from(purpose))
          .setAuthTag(tag);
        const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch {
        throw new SecretError('the stored credentials cannot be decrypted: TIPLINE_SECRET has changed');
      }
    },
  };
}
