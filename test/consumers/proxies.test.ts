import { connect } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../support/servers.ts';
import {
  ADDRESSES,
  AFTER_CHANGE,
  AT_FIRST,
  DOMAINS,
  isInstalled,
  openRecipe,
  type Program,
  type Recipe,
  startProgram,
  type Values,
} from './recipe.ts';

// Proxies and web servers of Debian, configured as their pages say.

/** Sends text to a port of loopback, and returns the status of the HTTP response; 0: there is none. */
const request = (port: number, text: string): Promise<number> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let response = '';
    socket.on('data', (chunk) => (response += chunk));
    socket.on('error', () => resolve(0));
    socket.on('close', () => resolve(Number(/^HTTP\/1\.[01] (\d+)/.exec(response)?.[1] ?? 0)));
  });
/** A request that a proxy in front forwards for a client, in the PROXY protocol. */
const fromClient = (port: number, address: string) =>
  request(
    port,
    `PROXY TCP4 ${address} 127.0.0.1 1000 80\r\nGET / HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n\r\n`,
  );

interface Case {
  page: string;
  program: string;
  values: Values;
  start(recipe: Recipe, port: number): Promise<Program>;
  /** The status of a request by an address or for a name. */
  status(port: number, value: string, recipe: Recipe): Promise<number>;
}

const DENIED = 403;

const CASES: Case[] = [
  {
    page: 'haproxy',
    program: 'haproxy',
    values: ADDRESSES,
    async start(recipe, port) {
      await recipe.shell(
        'update-feed.sh https://tipline.example/api/v1/feeds/haproxy /etc/haproxy/tipline.lst true',
      );
      const config = recipe.write(
        'etc/haproxy/haproxy.cfg',
        `defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend web
  bind 127.0.0.1:${port} accept-proxy
  ${recipe.fragment(/^http-request deny/)}
  http-request return status 200
`,
      );
      const program = startProgram(recipe, 'haproxy', ['-W', '-db', '-f', config]);
      recipe.program('systemctl', `[ "$*" = "reload haproxy" ] && kill -USR2 ${program.pid}`);
      return program;
    },
    status: fromClient,
  },
  {
    page: 'nginx',
    program: 'nginx',
    values: ADDRESSES,
    async start(recipe, port) {
      await recipe.shell(
        'update-feed.sh https://tipline.example/api/v1/feeds/deny /etc/nginx/tipline.conf true',
      );
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${recipe.root}/${name};`,
      );
      const config = recipe.write(
        'nginx.conf',
        `pid ${recipe.root}/nginx.pid; error_log stderr; events {}
http {
  access_log off; ${temporary.join(' ')}
  set_real_ip_from 127.0.0.1; real_ip_header proxy_protocol;
  server {
    listen 127.0.0.1:${port} proxy_protocol;
    ${recipe.fragment(/^include/)}
    location / { try_files /none =204; }
  }
}
`,
      );
      recipe.program('nginx', `exec /usr/sbin/nginx -p ${recipe.root} -c ${config} "$@"`);
      return startProgram(recipe, 'nginx', ['-p', recipe.root, '-c', config, '-g', 'daemon off;']);
    },
    status: fromClient,
  },
  {
    page: 'squid',
    program: 'squid',
    values: DOMAINS,
    async start(recipe, port) {
      await recipe.shell(
        'update-feed.sh https://tipline.example/api/v1/feeds/squid /etc/squid/tipline.txt true',
      );
      const hosts = Object.values(DOMAINS).flatMap((name) => [name, `any.${name}`]);
      const config = recipe.write(
        'squid.conf',
        `include ${recipe.root}/etc/squid/conf.d/*.conf
http_access allow all
http_port 127.0.0.1:${port}
pid_filename ${recipe.root}/squid.pid
access_log none
cache_log ${recipe.root}/cache.log
cache deny all
coredump_dir ${recipe.root}
hosts_file ${recipe.write('hosts', hosts.map((name) => `127.0.0.1 ${name}\n`).join(''))}
shutdown_lifetime 0 seconds
`,
      );
      await recipe.shell(
        `: > ${recipe.root}/cache.log && chmod 666 ${recipe.root}/cache.log && chmod 777 ${recipe.root}`,
      );
      recipe.program(
        'squid',
        `exec /usr/sbin/squid -n tipline$$ -f ${config} "$@"`.replace('$$', String(port)),
      );
      return startProgram(recipe, 'squid', ['-n', `tipline${port}`, '-N', '-f', config]);
    },
    status: async (port, name, { address }) => {
      const server = address.split(':').at(-1);
      const by = (host: string) =>
        request(
          port,
          `GET http://${host}:${server}/api/health HTTP/1.1\r\nHost: ${host}:${server}\r\nConnection: close\r\n\r\n`,
        );
      const [own, below] = [await by(name), await by(`any.${name}`)];
      return own === below ? own : -1;
    },
  },
];

describe.each(CASES.filter(({ program }) => isInstalled(program)))(
  '$program, as its page in docs/integrations says',
  ({ page, program, values, start, status }) => {
    let recipe: Recipe;
    beforeEach(async () => {
      recipe = await openRecipe(page, values);
    });
    afterEach(() => recipe.close());

    it('denies what is listed and nothing else, and follows changes', { tags: ['nightly'] }, async () => {
      const port = await freePort();
      const running = await start(recipe, port);
      const denied = async () => {
        const found = [];
        for (const role of Object.keys(AT_FIRST) as (keyof typeof AT_FIRST)[]) {
          const code = await status(port, values[role], recipe);
          found.push([role, code === DENIED ? true : code < 300 && code >= 200 ? false : code] as const);
        }
        return Object.fromEntries(found);
      };
      await running.until(
        `${program} to answer`,
        async () => (await status(port, values.whitelisted, recipe)) > 0,
      );
      expect(await denied()).toEqual(AT_FIRST);
      await recipe.change(values);
      await recipe.run(/^update-feed\.sh/);
      // Workers with the old list may answer for a moment.
      await running.until('the change', async () => isDeepStrictEqual(await denied(), AFTER_CHANGE));
    });
  },
);
