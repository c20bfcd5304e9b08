import { Command } from 'commander';
import { VERSION } from '../version.ts';

const EPILOGUE = `
Settings come from the environment or from .env in the working directory:
  HOST, PORT                                where to listen (127.0.0.1, 8080)
  TIPLINE_DATA_DIR                          directory of the embedded database (./data)
  DATABASE_URL, REDIS_URL                   PostgreSQL and Redis (embedded)
  DATABASE_REPLICA_URLS                     streaming replicas that serve reads (none)
  TIPLINE_SECRET                            signs sessions, encrypts credentials; required with DATABASE_URL
  PUBLIC_API_RATE_LIMIT_PER_WINDOW          requests per key and window (120)
  PUBLIC_API_RATE_LIMIT_WINDOW_SECONDS      length of the window (60)
  TRUSTED_PROXIES                           networks whose X-Forwarded-For is trusted (none)
  METRICS_TOKEN                             bearer token for /metrics (closed)
  TIPLINE_SPOOL_MB                          disk space for exports, under the data directory (4096)
  TIPLINE_DISK_RESERVE_MB                   free disk space below which it is read-only (256)
  TIPLINE_SHUTDOWN_DELAY_SECONDS            seconds from SIGTERM to closing the port (0)
  TIPLINE_PROCESSES                         processes behind one port; more than one requires both stores (1)
  TIPLINE_WORKER                            off: no background jobs in this process (on)
  WORKER_PORT                               port for health and metrics of tipline worker (none)
  TIPLINE_UPLOAD_MB                         largest upload in the application (512)
  TIPLINE_PUBLIC_ADDRESS                    public URL; required by OIDC_ISSUER (none)
  OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME, OIDC_TRUST_EMAIL
                                            OpenID provider for sign-in (none)
  TIPLINE_FEED_MB                           most that one run of a feed may fetch (1024)
  OUTBOUND_NETWORKS                         private networks that feeds and providers may be in (none)
  TIPLINE_SIGMA_RULES                       a checkout of community Sigma rules (none)
  LOG_LEVEL                                 fatal, error, warn, info, debug, trace or silent (info)

Examples:
  tipline serve
  tipline keys create --name soar --scope indicators:read --expires 90d
  tipline import ./events --source "Our MISP" --tlp GREEN --dry-run
  tipline export --format suricata --min-confidence 70 -o tipline.rules

While a server runs on the embedded database, other commands work through it.
Exit codes: 0 success; 1 failure or partial failure; 2 invalid command or configuration.
`;

/** The modules of a command are read when it is asked for: those of all take seconds on a slow machine. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  demo: async () => (await import('./demo.ts')).demoCommand(),
  import: async () => (await import('./import.ts')).importCommand(),
  imports: async () => (await import('./imports.ts')).importsCommand(),
  export: async () => (await import('./export.ts')).exportCommand(),
  sources: async () => (await import('./sources.ts')).sourcesCommand(),
  whitelist: async () => (await import('./whitelist.ts')).whitelistCommand(),
  providers: async () => (await import('./providers.ts')).providersCommand(),
  enrich: async () => (await import('./enrich.ts')).enrichCommand(),
  confidence: async () => (await import('./confidence.ts')).confidenceCommand(),
  campaigns: async () => (await import('./campaigns.ts')).campaignsCommand(),
  worker: async () => (await import('./worker.ts')).workerCommand(),
  users: async () => (await import('./users.ts')).usersCommand(),
  keys: async () => (await import('./keys.ts')).keysCommand(),
  migrate: async () => (await import('./migrate.ts')).migrateCommand(),
  openapi: async () => (await import('./openapi.ts')).openApiCommand(),
};

/** @param asked the first argument: the command to build; all are built when it is none of them, for the help. */
export async function buildProgram(asked: string | undefined): Promise<Command> {
  const program = new Command('tipline')
    .description('Threat intelligence for scripts, playbooks, firewalls, sensors and SIEMs.')
    .version(VERSION)
    .showHelpAfterError('(see --help)')
    .addHelpText('after', EPILOGUE)
    .exitOverride();
  const builders = Object.entries(COMMANDS);
  const one = builders.filter(([name]) => name === asked);
  for (const [, build] of one.length > 0 ? one : builders) program.addCommand(strict(await build()));
  return program;
}

/** Settings of the program that commands made apart do not inherit. */
function strict(command: Command): Command {
  for (const child of command.commands) strict(child);
  return command.exitOverride().showHelpAfterError('(see --help)');
}
