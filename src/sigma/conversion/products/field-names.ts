const FIELD_NAME = /^[A-Za-z_@][\w@-]*(?:\.[\w@][\w@-]*)*$/;
const MAX_LENGTH = 200;

/** Returns whether the name of a field may be part of a query as it is: rules of others may have any text there. */
export function isFieldName(field: string): boolean {
  return field.length <= MAX_LENGTH && FIELD_NAME.test(field);
}
