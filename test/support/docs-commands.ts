import type { Argument, Command, Option } from 'commander';
import { buildProgram } from '../../src/cli/program.ts';
import { table } from './docs-tables.ts';

/** Each command with its arguments and options, as `--help` lists them. */
export async function commandsReference(): Promise<string> {
  const program = await buildProgram(undefined);
  return program.commands.map((command) => sectionOf(command, 'tipline')).join('\n');
}

function sectionOf(command: Command, parent: string): string {
  const name = `${parent} ${command.name()}`;
  const own = [
    `### ${name}\n`,
    `${sentence(command.description())}\n`,
    ...(command.commands.length === 0 ? [`\`${name} ${command.usage()}\`\n`] : []),
    ...argumentsTable(command),
  ].join('\n');
  return [own, ...command.commands.map((child) => sectionOf(child, name))].join('\n');
}

function argumentsTable(command: Command): string[] {
  const help = command.createHelp();
  const rows = [
    ...help.visibleArguments(command).map((argument) => [code(argument.name()), meaningOf(argument)]),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map((option) => [code(option.flags), meaningOf(option)]),
  ];
  return rows.length === 0 ? [] : [table(['argument or option', 'meaning'], rows)];
}

const meaningOf = ({ description, argChoices, defaultValue }: Argument | Option): string =>
  [
    cell(description ?? ''),
    argChoices && `one of ${argChoices.map(code).join(', ')}`,
    // Options that are not given are empty lists or false.
    defaultValue !== undefined && defaultValue !== false && String(defaultValue) !== ''
      ? `default ${code(String(defaultValue))}`
      : undefined,
  ]
    .filter(Boolean)
    .join('; ');

const code = (text: string) => `\`${line(text)}\``;
/** A text that is no code, without what Markdown would read as HTML. */
const cell = (text: string) => line(text).replaceAll('<', '\\<');
/** A text in one line of a table. */
const line = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, '.');
