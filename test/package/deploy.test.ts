// The files of server/deploy: they parse, name only settings, files and probes that there are, and run as nobody.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../server/config/config.ts';
import { SETTINGS } from '../../server/config/settings.ts';
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
  readonly networks?: { readonly default: { readonly ipv4_address: string } };
}
const compose = parse(read('compose.yaml')) as { services: Readonly<Record<string, Service>> };
const { redis, mongo, twinline, proxy } = compose.services as Record<'redis' | 'mongo' | 'twinline' | 'proxy', Service>;

/** `${NAME:?why}` and `${NAME:-}` filled in. */
const filled = (text: string) =>
  text.replace(/\$\{(\w+)[^}]*\}/g, (_all, name: string) => KEYS[name as keyof typeof KEYS] ?? '');

/** What the image sets. */
const imageEnv = Object.fromEntries(
  [...dockerfile.matchAll(/^ENV (.+)$/gm)].flatMap((match) => match[1]!.split(' ').map((pair) => pair.split('='))),
) as Record<string, string>;

test('every variable of the image, of compose and of Kubernetes is a setting, and together they are valid', () => {
  const composed = Object.fromEntries(
    Object.entries(twinline.environment!).map(([name, text]) => [name, filled(text)]),
  );
  const pods = (kubernetes('Deployment').spec.template.spec.containers[0]!.env ?? []) as {
    name: string;
    value: string;
  }[];
  const inPods = { ...KEYS, ...Object.fromEntries(pods.map(({ name, value }) => [name, value])) };
  for (const env of [composed, inPods]) {
    for (const name of Object.keys({ ...imageEnv, ...env })) assert.ok(name in SETTINGS, name);
    assert.equal(readConfig({ ...imageEnv, ...env }).problems, []);
  }
  const secrets = Object.entries(SETTINGS).filter(([, row]) => 'secret' in row && row.secret !== 'password');
  for (const [name] of secrets)
    assert.match(twinline.environment![name] ?? '${', /^\$\{/, `${name} is not written into the file`);
});

test('the image runs as another user than root, has a health check, and copies only what there is', () => {
  assert.match(dockerfile, /^USER node$/m);
  assert.ok(dockerfile.lastIndexOf('USER node') > dockerfile.lastIndexOf('\nRUN '), 'nothing runs after it as root');
  assert.match(dockerfile, /^HEALTHCHECK [\s\S]*\/livez/m);
  const froms = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map((match) => match[1]!);
  for (const image of froms) assert.match(image, /^node:\d+-slim$/);
  const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) => match[1]!.split(' '));
  assert.ok(sources.length > 5);
  const allowed = read('Dockerfile.dockerignore').split('\n');
  for (const source of sources) {
    assert.ok(existsSync(join(ROOT, source)), source);
    assert.ok(allowed.includes(`!${source}`), `${source} is let through to the build`);
  }
  const script = /^CMD \["node", "(.+)"\]$/m.exec(dockerfile)![1]!;
  assert.ok(existsSync(join(ROOT, script.replace('dist/', '').replace(/\.js$/, '.ts'))));
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

test('pods run as nobody, are asked where the server answers, and have time to drain', () => {
  const { template } = kubernetes('Deployment').spec;
  assert.is(template.spec.securityContext.runAsNonRoot, true);
  const [container] = template.spec.containers;
  for (const probe of ['startupProbe', 'livenessProbe']) assert.is(container![probe].httpGet.path, '/livez');
  assert.is(container!.readinessProbe.httpGet.path, '/readyz');
  assert.is(
    container!.ports.find(({ name }: { name: string }) => name === 'http').containerPort,
    Number(imageEnv.PORT),
  );
  assert.ok(template.spec.terminationGracePeriodSeconds > 5 + 20);
  assert.equal(kubernetes('Service').spec.selector, template.metadata.labels);
});

test('whoever installs the package does not get them', () => {
  assert.not.ok(
    manifest.files.some((pattern) => 'server/deploy/compose.yaml'.startsWith(pattern.replace(/\*.*$/, '') || '-')),
  );
});

// biome-ignore lint/suspicious/noExplicitAny: the shapes are Kubernetes'.
function kubernetes(kind: string): any {
  const documents = parseAllDocuments(read('kubernetes.yaml'));
  assert.ok(documents.every(({ errors, warnings }) => errors.length + warnings.length === 0));
  return documents.map((document) => document.toJS()).find((one) => one.kind === kind);
}

test.run();
