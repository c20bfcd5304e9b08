import { Command } from 'commander';
import { settingsHelp } from '../config/config.ts';
import { VERSION } from '../version.ts';

const EXAMPLES = `
Examples:
  tipline serve
  tipline keys create --name soar --scope indicators:read --expires 90d
  tipline import ./events --source "Our MISP" --tlp GREEN --dry-run
  tipline export --format suricata --min-confidence 70 -o tipline.rules

While a server runs on the embedded database, other commands work through it.
Exit codes: 0 success; 1 failure or partial failure; 2 invalid command or configuration.
`;

const VERSION_FLAGS = ['-V', '--version'];

/** Each command loads its own modules: loading those of all commands takes seconds on a slow machine. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  demo: async () => (await import('./demo.ts')).demoCommand(),
  import: async () => (await import('./import.ts')).importCommand(),
  imports: async () => (await import('./imports.ts')).importsCommand(),
  export: async () => (await import('./export.ts')).exportCommand(),
  feeds: async () => (await import('./feeds.ts')).feedsCommand(),
  lookup: async () => (await import('./lookup.ts')).lookupCommand(),
  mcp: async () => (await import('./mcp.ts')).mcpCommand(),
  sources: async () => (await import('./sources.ts')).sourcesCommand(),
  whitelist: async () => (await import('./whitelist.ts')).whitelistCommand(),
  providers: async () => (await import('./providers.ts')).providersCommand(),
  enrich: async () => (await import('./enrich.ts')).enrichCommand(),
  confidence: async () => (await import('./confidence.ts')).confidenceCommand(),
  campaigns: async () => (await import('./campaigns.ts')).campaignsCommand(),
  worker: async () => (await import('./worker.ts')).workerCommand(),
  users: async () => (await import('./users.ts')).usersCommand(),
  keys: async () => (await import('./keys.ts')).keysCommand(),
  audit: async () => (await import('./audit.ts')).auditCommand(),
  backup: async () => (await import('./backup.ts')).backupCommand(),
  restore: async () => (await import('./restore.ts')).restoreCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  health: async () => (await import('./health.ts')).healthCommand(),
  move: async () => (await import('./move.ts')).moveCommand(),
  migrate: async () => (await import('./migrate.ts')).migrateCommand(),
  'warm-up': async () => (await import('./warm-up.ts')).warmUpCommand(),
  openapi: async () => (await import('./openapi.ts')).openApiCommand(),
};

/**
 * Builds the command line.
 * @param commandName the first argument: only this command is built, none for the version, or all if there is no such
 *   command, for the help
 */
export async function buildProgram(commandName: string | undefined): Promise<Command> {
  const program = new Command('tipline')
    .description('Threat intelligence for scripts, playbooks, firewalls, sensors and SIEMs.')
    .version(VERSION)
    .showHelpAfterError('(see --help)')
    .addHelpText('after', (context) => settingsSection(context.command) + EXAMPLES)
    .exitOverride();
  if (commandName !== undefined && VERSION_FLAGS.includes(commandName)) return program;
  const builders = Object.entries(COMMANDS);
  const one = builders.filter(([name]) => name === commandName);
  for (const [, build] of one.length > 0 ? one : builders) program.addCommand(inheritSettings(await build()));
  return program;
}

function settingsSection(program: Command): string {
  const help = program.createHelp();
  const settings = settingsHelp();
  const width = Math.max(...settings.map(({ name }) => name.length));
  const lines = settings.map(({ name, meaning }) => help.formatItem(name, width, meaning, help));
  return `\nSettings come from the environment or from .env in the working directory:\n${lines.join('\n')}\n`;
}

/** Applies settings of the program that commands added with `addCommand` do not inherit. */
function inheritSettings(command: Command): Command {
  for (const child of command.commands) inheritSettings(child);
  return command.exitOverride().showHelpAfterError('(see --help)');
}
