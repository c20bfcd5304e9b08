import { Command, Option } from 'commander';
import { listUsers, type User } from '../accounts/accounts.queries.ts';
import { AccountError, changeUser, createUser, type UserChange } from '../accounts/accounts.service.ts';
import { ROLES, type Role } from '../model/account.ts';
import { cliActor } from './actor.ts';
import { label, UsageError } from './options.ts';
import { print, printJson } from './output.ts';
import { orStandardInput } from './secret.ts';
import { withDatabase } from './store.ts';

interface CreateOptions {
  name?: string;
  role: Role;
  password: string;
}

interface SetOptions {
  name?: string;
  role?: Role;
  password?: string;
  withoutTwoFactor?: true;
  withoutIdentity?: true;
}

export function usersCommand(): Command {
  const users = new Command('users').description('accounts of the application');
  const password = (command: Command, description: string) =>
    command.addOption(new Option('--password <password>', `${description}; - reads it from standard input`));
  const roles = `role: ${ROLES.join(', ')}`;
  password(
    users.command('create').description('create an account'),
    'its first password, 12 characters or more; changed at the first sign-in',
  )
    .argument('<email>', 'its e-mail address, to sign in with')
    .addOption(new Option('--role <role>', roles).choices(ROLES).makeOptionMandatory())
    .option('--name <name>', 'name of the person (default: the address)', label)
    .action(create);
  password(
    users.command('set').description('change an account; ends its sessions if the role or password changes'),
    'another password, changed at the next sign-in',
  )
    .argument('<email>', 'its e-mail address or id')
    .addOption(new Option('--role <role>', roles).choices(ROLES))
    .option('--name <name>', 'the name of the person', label)
    .option('--without-two-factor', 'remove its two-factor authentication')
    .option('--without-identity', 'remove its link to an account at the OpenID provider')
    .action((email: string, options: SetOptions) => set(email, options));
  for (const disabled of [true, false]) {
    users
      .command(disabled ? 'disable' : 'enable')
      .description(disabled ? 'disable an account and end its sessions' : 'enable an account')
      .argument('<email>', 'its e-mail address or id')
      .action((email: string) => change(email, { disabled }));
  }
  users.command('list').description('list the accounts').option('--json', 'print a JSON array').action(list);
  return users;
}

async function create(email: string, { name, role, password }: CreateOptions): Promise<void> {
  if (password === undefined) throw new UsageError('--password is missing; - reads it from standard input.');
  const wanted = { email, name: name ?? email, role, password: await orStandardInput(password, 'password') };
  const user = await withDatabase(({ db }) => createUser(db, wanted, cliActor()).catch(asUsage));
  print(line(user));
}

async function set(email: string, { password, ...options }: SetOptions): Promise<void> {
  const given = password === undefined ? {} : { password: await orStandardInput(password, 'password') };
  if (Object.keys({ ...options, ...given }).length === 0)
    throw new UsageError('No changes given; see --help.');
  await change(email, { ...options, ...given });
}

async function change(email: string, wanted: UserChange): Promise<void> {
  const user = await withDatabase(({ db }) => changeUser(db, email, wanted, cliActor()));
  print(line(user));
}

async function list({ json }: { json?: boolean }): Promise<void> {
  const users = await withDatabase(({ db }) => listUsers(db));
  if (json) return printJson(users);
  if (users.length === 0)
    return print(
      'There are no accounts. Make one: tipline users create EMAIL --role administrator --password -',
    );
  for (const user of users) print(line(user));
}

function line({ email, name, role, twoFactor, disabledAt }: User): string {
  const facts = [role, ...(twoFactor ? ['with a second factor'] : []), ...(disabledAt ? ['disabled'] : [])];
  return `${email}  ${name}  ${facts.join(', ')}`;
}

/** Rethrows a rejected value as an invalid command. */
function asUsage(error: unknown): never {
  throw error instanceof AccountError ? new UsageError(error.message) : error;
}
