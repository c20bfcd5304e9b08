import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server';
import { ApiError } from '../http/errors.ts';
import { visibleText } from '../model/visible-text.ts';
import { VERSION } from '../version.ts';
import { type Caller, McpInputError } from './caller.ts';
import { completePrompt, listPrompts, writePrompt } from './prompts.ts';
import { completeResource, listResources, listTemplates, readResource } from './resources.ts';
import { NOTICE } from './third-party.ts';
import { isAllowed, requireAllowed, type Tool } from './tool.ts';
import { TOOLS } from './tools/catalogue.ts';

const INSTRUCTIONS = `Tipline is a threat-intelligence store: indicators, threat actors, campaigns, reports and detection rules, read-only.
Start with look_up for observables, search for names, actor_profile or whats_new. Observables in answers are defanged; tools accept them so.
Answers are short: nextPage, nextOffset or cursor lead on. What is not known is not thereby harmless, and what this API key may not see is missing.
${NOTICE}`;

/** The maximum number of completions (MCP, "Completion"). */
const MAX_COMPLETIONS = 100;

/** The tools only read what is stored here, and the same call has the same effect: none. */
const ANNOTATIONS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Never used: it is for answers to questions that a server asks, and this one asks none. */
const NO_VALIDATOR = {
  getValidator: () => () => ({
    valid: false as const,
    data: undefined,
    errorMessage: 'not supported',
  }),
};

/**
 * Returns a protocol server for one request of a caller. Lists have what the key may use; the server is without state, so it
 * announces no changes.
 */
export function protocolServer(caller: Caller): Server {
  const server = new Server(
    { name: 'tipline', title: 'Tipline', version: VERSION },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: NO_VALIDATOR,
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: TOOLS.filter((tool) => isAllowed(tool, caller)).map(listedTool),
  }));
  server.setRequestHandler('tools/call', ({ params }) =>
    guarded(caller, async () => {
      const tool = TOOLS.find(({ name }) => name === params.name);
      if (!tool)
        throw new McpInputError(
          `There is no such tool. Tools are ${TOOLS.map(({ name }) => name).join(', ')}.`,
        );
      requireAllowed(tool, caller);
      return callTool(tool, params.arguments, caller);
    }),
  );
  server.setRequestHandler('resources/list', ({ params }) =>
    guarded(caller, () => listResources(caller, params?.cursor)),
  );
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: listTemplates(caller) }));
  server.setRequestHandler('resources/read', ({ params }) =>
    guarded(caller, async () => {
      const content = await readResource(caller, params.uri);
      if (!content) throw new ResourceNotFoundError(params.uri);
      return { contents: [content] };
    }),
  );
  server.setRequestHandler('prompts/list', () => ({ prompts: listPrompts(caller) }));
  server.setRequestHandler('prompts/get', ({ params }) =>
    guarded(caller, async () => writePrompt(caller, params.name, params.arguments)),
  );
  server.setRequestHandler('completion/complete', ({ params: { ref, argument } }) =>
    guarded(caller, async () => {
      const { name, value } = argument;
      const most = MAX_COMPLETIONS;
      const found =
        ref.type === 'ref/prompt'
          ? await completePrompt(caller, ref.name, name, value, most)
          : await completeResource(caller, ref.uri, name, value, most);
      return {
        completion: { values: found.map(visibleText), total: found.length, hasMore: found.length === most },
      };
    }),
  );
  return server;
}

const listedTool = ({ name, title, description, input, output }: Tool) => ({
  name,
  title,
  description,
  inputSchema: input as { type: 'object' },
  outputSchema: output as { type: 'object' },
  annotations: { title, ...ANNOTATIONS },
});

/** Calls a tool. What the client can correct is a result for its model (MCP, "Tools", error handling). */
async function callTool(tool: Tool, input: unknown, caller: Caller) {
  try {
    const structuredContent = await tool.call(input, caller);
    const content = [{ type: 'text' as const, text: JSON.stringify(structuredContent) }];
    return { content, structuredContent: structuredContent as Record<string, unknown> };
  } catch (error) {
    const message = correctable(error);
    if (message === null) throw error;
    return { content: [{ type: 'text' as const, text: message }], isError: true };
  }
}

/** Returns the message of an error of the client; null: it is none. */
function correctable(error: unknown): string | null {
  if (error instanceof McpInputError) return error.message;
  return error instanceof ApiError && error.statusCode < 500 ? error.message : null;
}

/** Runs the handler of a request. Its errors become errors of the protocol, and reveal no internals. */
async function guarded<T>(caller: Caller, handle: () => Promise<T>): Promise<T> {
  try {
    return await handle();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const message = correctable(error);
    if (message !== null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    throw new ProtocolError(ProtocolErrorCode.InternalError, caller.reportError(error as Error));
  }
}
