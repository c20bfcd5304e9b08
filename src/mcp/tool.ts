import type { Static, TObject, TSchema } from 'typebox';
import { Type } from 'typebox';
import { bodyValidator } from '../http/validation.ts';
import type { Scope } from '../model/account.ts';
import { type Caller, McpInputError, may, requireScopes } from './caller.ts';
import { NOTICE } from './third-party.ts';

/**
 * The maximum length of an answer in characters, about 8,000 tokens: clients cut longer ones or warn of them. Lists have pages of so
 * many items, and items texts of such lengths, that answers stay below.
 */
export const MAX_ANSWER = 24_000;

/** A tool as it is listed and called. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  /** The scopes that a key needs, or, as lists, one of these lists. */
  scopes: readonly Scope[] | readonly (readonly Scope[])[];
  input: TObject;
  output: TObject;
  /** @throws {McpInputError} when the input is not valid, or nothing is found */
  call(input: unknown, caller: Caller): Promise<object>;
}

interface Definition<Input extends TObject, Output extends TObject> extends Omit<Tool, 'call'> {
  input: Input;
  output: Output;
  run(input: Static<Input>, caller: Caller): Promise<Omit<Static<Output>, 'notice'>>;
}

/** Defines a tool whose input is validated, and whose answers begin with the notice about third-party texts. */
export function defineTool<Input extends TObject, Output extends TObject>({
  run,
  ...tool
}: Definition<Input, Output>): Tool {
  const validate = bodyValidator(tool.input);
  return {
    ...tool,
    async call(input, caller) {
      const checked = validate(input);
      if ('error' in checked) throw new McpInputError(checked.error.message);
      const answer = { notice: NOTICE, ...(await run(checked.value as Static<Input>, caller)) };
      if (JSON.stringify(answer).length > MAX_ANSWER)
        throw new Error(`The answer of ${tool.name} has more than ${MAX_ANSWER} characters`);
      return answer;
    },
  };
}

const alternatives = ({ scopes }: Pick<Tool, 'scopes'>): readonly (readonly Scope[])[] =>
  scopes.every((scope) => typeof scope === 'string') ? [scopes] : scopes;

/** Returns whether a key may call a tool: others are not listed. */
export const isAllowed = (tool: Pick<Tool, 'scopes'>, caller: Pick<Caller, 'scopes'>): boolean =>
  alternatives(tool).some((scopes) => may(caller, scopes));

/** @throws {McpInputError} naming the scopes that a key lacks */
export function requireAllowed(tool: Pick<Tool, 'scopes' | 'name'>, caller: Pick<Caller, 'scopes'>): void {
  if (!isAllowed(tool, caller)) requireScopes(caller, alternatives(tool)[0] ?? [], `The tool ${tool.name}`);
}

const strict = { additionalProperties: false };

/** Returns the schema of the arguments of a tool. */
export const inputOf = <T extends Record<string, TSchema>>(properties: T) => Type.Object(properties, strict);

/** Returns the schema of the answer of a tool. */
export const answerOf = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object({ notice: Type.String({ description: 'How to read the texts.' }), ...properties });

/** Returns how many characters of JSON are left for the rest of an answer. */
export const roomBeside = (answer: object): number => MAX_ANSWER - 600 - JSON.stringify(answer).length;

/** Returns the first items that fit into so many characters of JSON, but at least one. */
export function fitting<T>(items: readonly T[], most: number): T[] {
  let length = 0;
  const end = items.findIndex((item, index) => {
    length += JSON.stringify(item).length + 1;
    return length > most && index > 0;
  });
  return items.slice(0, end < 0 ? items.length : end);
}
