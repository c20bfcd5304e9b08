import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ADDRESSES,
  AFTER_CHANGE,
  AT_FIRST,
  isInstalled,
  openRecipe,
  type Program,
  type Recipe,
  startProgram,
} from './recipe.ts';

// Packet filters in a network namespace of their own. Root has one; others need a user namespace too.

const isRoot = process.getuid?.() === 0;
const NEW_NAMESPACE = isRoot ? ['-n'] : ['-rn'];

/** Sends a datagram from an address to a socket, and prints whether it arrives. */
const SEND = `
import socket, sys
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(('127.0.0.1', 0))
receiver.settimeout(0.5)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.bind((sys.argv[1], 0))
sender.sendto(b'x', receiver.getsockname())
try:
    receiver.recv(1)
    print('arrived')
except socket.timeout:
    print('dropped')
`;

const CASES = [
  { page: 'nftables', program: 'nft' },
  { page: 'ipset', program: 'ipset' },
] as const;

/** Whether the kernel allows sets in a namespace. */
async function isPermitted(recipe: Recipe, program: string): Promise<boolean> {
  const probe =
    program === 'nft'
      ? 'nft add table inet probe && nft delete table inet probe'
      : 'ipset create probe hash:net && ipset destroy probe';
  return recipe.shell(probe).then(
    () => true,
    () => false,
  );
}

describe.each(CASES.filter(({ program }) => isInstalled(program) && isInstalled('python3')))(
  '$program, as its page in docs/integrations says',
  ({ page, program }) => {
    let recipe: Recipe;
    let namespace: Program;
    let enter: string;
    beforeEach(async () => {
      recipe = await openRecipe(page, ADDRESSES);
      namespace = startProgram(recipe, 'unshare', [
        ...NEW_NAMESPACE,
        'sh',
        '-c',
        'ip link set lo up; touch ready; exec sleep 600',
      ]);
      await namespace.until('the namespace', () =>
        recipe.shell('test -e ready').then(
          () => true,
          () => false,
        ),
      );
      enter = `nsenter -t ${namespace.pid} -n${isRoot ? '' : ' -U --preserve-credentials'}`;
      recipe.program(program, `exec ${enter} /usr/sbin/${program} "$@"`);
      recipe.write('send.py', SEND);
    });
    afterEach(() => recipe.close());

    const ROLES = Object.keys(AT_FIRST) as (keyof typeof AT_FIRST)[];
    /** The roles of addresses for which the command succeeds. */
    async function those(command: (address: string) => Promise<boolean>) {
      const found = [];
      for (const role of ROLES) found.push([role, await command(ADDRESSES[role])] as const);
      return Object.fromEntries(found);
    }
    const succeeds = (command: string) =>
      recipe.shell(command).then(
        () => true,
        () => false,
      );

    it('blocks what is listed and nothing else, and follows changes', {
      tags: ['nightly'],
    }, async (context) => {
      if (!(await isPermitted(recipe, program)))
        return context.skip('the kernel permits no sets in a network namespace here');
      await recipe.run(/^update-feed\.sh/);
      const check = recipe.page.text.match(new RegExp(`^${program} (?:get|test).*$`, 'm'))?.[0] ?? '';
      const isListed = (address: string) => succeeds(check.replace(ADDRESSES.listed, address));
      expect(await those(isListed)).toEqual(AT_FIRST);
      if (program === 'nft') await recipe.run(/^nft add/);
      for (const role of ROLES) await recipe.shell(`${enter} ip addr add ${ADDRESSES[role]}/32 dev lo`);
      const isDropped = async (address: string) =>
        (await recipe.shell(`${enter} python3 send.py ${address}`)).trim() === 'dropped';
      if (program === 'nft') expect(await those(isDropped)).toEqual(AT_FIRST);
      await recipe.change(ADDRESSES);
      await recipe.run(/^update-feed\.sh/);
      expect(await those(isListed)).toEqual(AFTER_CHANGE);
      if (program === 'nft') expect(await those(isDropped)).toEqual(AFTER_CHANGE);
    });
  },
);
