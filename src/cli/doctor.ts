import { Command } from 'commander';
import { findSecret } from '../backup/secret-file.ts';
import { systemClock } from '../clock.ts';
import { ConfigError, readConfig } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import { openPostgresSession } from '../db/postgres/postgres-session.ts';
import type { CredentialBoxes } from '../doctor/credentials.ts';
import { type Examined, examine } from '../doctor/doctor.ts';
import { error, type Finding, ok } from '../doctor/finding.ts';
import { webhookSecrets } from '../feeds/webhooks/webhooks.service.ts';
import { print, printJson } from './output.ts';
import { openSecrets, sessionSecret } from './secret.ts';
import { openPresentStore, requireStore, storeName } from './store.ts';

/** Exit codes, besides 0: at least one error; no error, but at least one warning. */
const [ERRORS, WARNINGS] = [1, 2];
const ENV_FILE = '.env';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check configuration, files, database and Redis; changes nothing')
    .option('--json', 'print a JSON array')
    .addHelpText('after', '\nExit codes: 0 all is well; 1 errors; 2 only warnings.')
    .action(async ({ json }: { json?: boolean }) => {
      const findings = await findAll();
      if (json) printJson(findings);
      else for (const line of findings.flatMap(linesOf)) print(line);
      if (findings.some(({ status }) => status === 'error')) process.exitCode = ERRORS;
      else if (findings.some(({ status }) => status === 'warning')) process.exitCode = WARNINGS;
    });
}

async function findAll(): Promise<Finding[]> {
  const check = 'configuration';
  let config: Config;
  try {
    config = readConfig({ serving: true });
  } catch (problem) {
    if (!(problem instanceof ConfigError)) throw problem;
    return [{ check, ...error(problem.message, 'Correct these settings; nothing else was checked.') }];
  }
  process.stderr.write(`Store: ${storeName(config)}\n`);
  const found = await examine(config, {
    clock: systemClock,
    envFile: ENV_FILE,
    openDatabase: () => openExamined(config),
    openSecrets: () => openPresentSecrets(config),
  });
  return [{ check, ...ok('All settings are valid') }, ...found];
}

async function openExamined(config: Config): Promise<Examined> {
  if (config.databaseUrl) {
    const session = await openPostgresSession(config.databaseUrl, 'tipline doctor');
    return { ...session, shared: false };
  }
  requireStore(config);
  return openPresentStore(config);
}

/**
 * Returns the encryption of stored credentials.
 * @returns null when the embedded database has no secret: none is created
 */
async function openPresentSecrets(config: Config): Promise<CredentialBoxes | null> {
  const secret = config.secret ?? (config.databaseUrl ? null : await findSecret(config.dataDirectory));
  if (secret === null) return null;
  const settings = { ...config, secret };
  const { sources, providers } = await openSecrets(settings);
  return { source: sources, provider: providers, webhook: webhookSecrets(await sessionSecret(settings)) };
}

function linesOf({ check, status, message, remedy }: Finding): string[] {
  const line = `${status.padEnd(7)}  ${check}: ${message}.`;
  return remedy === undefined ? [line] : [line, `         ${remedy}`];
}
