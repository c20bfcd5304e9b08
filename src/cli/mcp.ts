import { Command, Option } from 'commander';
import { type Forwarding, forwarder } from '../mcp/forward.ts';
import { VERSION } from '../version.ts';
import { UsageError } from './options.ts';
import { exitWithReader } from './output.ts';

interface Options {
  key?: string;
  server: string;
}

/** The maximum length of a message in characters. The server rejects those of more than 1 MiB, with their id. */
const MAX_LINE = 16 * 1024 * 1024;

export function mcpCommand(): Command {
  return (
    new Command('mcp')
      .description('serve the Model Context Protocol to a local client, by a running server')
      .addOption(
        new Option('--server <url>', 'address of the server')
          .env('TIPLINE_SERVER')
          .default('http://127.0.0.1:8080'),
      )
      // Not in the help: other users of the machine can read command lines.
      .addOption(new Option('--key <key>').env('TIPLINE_KEY').hideHelp())
      .addHelpText(
        'after',
        `
A client such as Claude Desktop or VS Code starts this command, and speaks to it through standard input and output (stdio).
Each message is sent to /mcp of the server, with the API key in TIPLINE_KEY: the client sees what the key may see.

Example of a configuration of a client:
  { "command": "tipline", "args": ["mcp"], "env": { "TIPLINE_SERVER": "https://tipline.example.org", "TIPLINE_KEY": "tip_…" } }
`,
      )
      .action(serveStdio)
  );
}

async function serveStdio({ key, server }: Options): Promise<void> {
  if (!key) throw new UsageError('TIPLINE_KEY must be set to an API key.');
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol))
    throw new UsageError('--server must be an http or https URL.');
  exitWithReader();
  const warn = (text: string) => process.stderr.write(`${text}\n`);
  const forwarding: Forwarding = {
    url: `${server.replace(/\/+$/, '')}/mcp`,
    key,
    userAgent: `tipline/${VERSION}`,
    write: (message) => process.stdout.write(`${message}\n`),
    warn,
  };
  const forward = forwarder(forwarding);
  const underWay = new Set<Promise<void>>();
  for await (const line of lines(process.stdin, warn)) {
    const answered = forward(line).finally(() => underWay.delete(answered));
    underWay.add(answered);
  }
  // The client has closed its end: requests under way are still answered.
  await Promise.all(underWay);
}

/** Yields the lines of a stream that are not empty. A line that is too long is left out, and reported. */
async function* lines(stream: NodeJS.ReadStream, warn: (text: string) => void): AsyncGenerator<string> {
  let [parts, length]: [string[], number] = [[], 0];
  const add = (part: string) => {
    if (length <= MAX_LINE && length + part.length > MAX_LINE) {
      warn(`A message has more than ${MAX_LINE} characters and is left out.`);
      parts = [];
    }
    length += part.length;
    if (length <= MAX_LINE) parts.push(part);
  };
  const end = () => {
    const line = parts.join('');
    [parts, length] = [[], 0];
    return line.trim() === '' ? [] : [line];
  };
  for await (const chunk of stream.setEncoding('utf8')) {
    const [rest = '', ...others] = String(chunk).split('\n');
    add(rest);
    for (const part of others) {
      yield* end();
      add(part);
    }
  }
  yield* end();
}
