// The files for Kubernetes: of the shapes that its API declares, with probes, drain, limits and menus that fit the server.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse, parseAllDocuments } from 'yaml';
import { longestStopMs } from '../../server/boot/process.ts';
import { readConfig } from '../../server/config/config.ts';
import { SETTINGS } from '../../server/config/settings.ts';
import { ask, DIAL, json } from '../server/support/serve.ts';
import { TSC } from '../support/build.ts';
import { startProcess, withFolder } from '../support/process.ts';
import { until } from '../support/until.ts';
import { environmentOf, stages } from './dockerfile.ts';
import { KEYS } from './keys.ts';
import { ROOT } from './manifest.ts';

const test = suite('Kubernetes');

const read = (name: string) => readFileSync(join(ROOT, 'server/deploy', name), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: the shapes are Kubernetes'; the first test checks them.
type Resource = Readonly<Record<string, any>>;
const resources = parseAllDocuments(read('kubernetes.yaml')).map((document): Resource => {
  assert.equal([...document.errors, ...document.warnings], []);
  return document.toJS() as Resource;
});
const menusPatch = parse(read('kubernetes-menus.yaml')) as Resource;
const ofKind = (kind: string): Resource => resources.find((resource) => resource.kind === kind)!;
const pod = ofKind('Deployment').spec.template;
const [container] = pod.spec.containers;
/** What the image sets. */
const imageEnv = environmentOf(stages(read('Dockerfile')).at(-1)!);

/** Where the types of each kind are. */
const TYPES: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  Service: 'core/v1',
  PodDisruptionBudget: 'policy/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
};

/** What the compiler says of resources as values of the types of Kubernetes' API. */
function problemsOf(given: readonly Resource[]): string {
  let said = '';
  const folder = join(ROOT, 'build', `kubernetes-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const lines = given.map(
      ({ kind, ...rest }, at) =>
        `import type { ${kind} as Kind${at} } from 'kubernetes-types/${TYPES[kind]}';\nexport const r${at}: Kind${at} = ${JSON.stringify({ kind, ...rest }, null, 1)};`,
    );
    writeFileSync(join(folder, 'resources.ts'), lines.join('\n'));
    const options = '--ignoreConfig --noEmit --strict --module esnext --moduleResolution bundler --target es2022'.split(
      ' ',
    );
    said = spawnSync(process.execPath, [TSC, ...options, join(folder, 'resources.ts')], { encoding: 'utf8' }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
  return said;
}

test('all resources are of the shapes that the API of Kubernetes declares', () => {
  assert.equal(
    resources.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
    ['apps/v1 Deployment', 'v1 Service', 'policy/v1 PodDisruptionBudget', 'autoscaling/v2 HorizontalPodAutoscaler'],
  );
  assert.is(problemsOf([...resources, patched(ofKind('Deployment'), menusPatch)]), '');
});

test('pods run as nobody and are asked where the server answers', () => {
  assert.is(pod.spec.securityContext.runAsNonRoot, true);
  assert.equal(container.securityContext.capabilities, { drop: ['ALL'] });
  assert.is(container.securityContext.readOnlyRootFilesystem, true);
  for (const probe of ['startupProbe', 'livenessProbe']) assert.is(container[probe].httpGet.path, '/livez');
  assert.is(container.readinessProbe.httpGet.path, '/readyz');
  const port = (name: string) => container.ports.find((one: { name: string }) => one.name === name).containerPort;
  assert.is(port('http'), Number(imageEnv.PORT));
  assert.is(String(port('metrics')), variables(pod).METRICS_PORT);
  assert.is(pod.metadata.annotations['prometheus.io/port'], variables(pod).METRICS_PORT);
  assert.equal(ofKind('Service').spec.selector, pod.metadata.labels);
});

test('a pod has time to drain: the Service forgets it while it still answers, and nobody kills it before it has ended', () => {
  const { config, problems } = readConfig({ ...imageEnv, ...variables(pod), ...KEYS });
  assert.equal(problems, []);
  for (const name of Object.keys(variables(pod))) assert.ok(name in SETTINGS, name);
  const { periodSeconds, failureThreshold } = container.readinessProbe;
  assert.ok(config!.drainDelayMs > periodSeconds * failureThreshold * 1_000);
  assert.ok(pod.spec.terminationGracePeriodSeconds * 1_000 > longestStopMs(config!));
  assert.is(container.lifecycle, undefined, 'a preStop would only add to it');
});

test('instances come by load, go one by one, and no update or drained machine takes two at once', () => {
  const { scaleTargetRef, minReplicas, maxReplicas, behavior } = ofKind('HorizontalPodAutoscaler').spec;
  const { kind, metadata, spec } = ofKind('Deployment');
  assert.equal([scaleTargetRef.kind, scaleTargetRef.name], [kind, metadata.name]);
  assert.is(spec.replicas, undefined, 'or each kubectl apply would undo the autoscaler');
  assert.ok(minReplicas >= 3 && maxReplicas > minReplicas);
  assert.equal(behavior.scaleDown.policies, [{ type: 'Pods', value: 1, periodSeconds: 60 }]);
  assert.is(ofKind('PodDisruptionBudget').spec.maxUnavailable, 1);
  for (const resource of ['PodDisruptionBudget', 'Deployment'])
    assert.equal(ofKind(resource).spec.selector.matchLabels, pod.metadata.labels);
});

test('with the patch, the menus of the ConfigMap are served', () => {
  const { template } = patched(ofKind('Deployment'), menusPatch).spec;
  const { volumeMounts } = template.spec.containers[0];
  const mount = volumeMounts.find(({ name }: { name: string }) => name === 'menus');
  assert.is(mount.mountPath, variables(template).MENUS_DIR);
  assert.is(
    template.spec.volumes.find(({ name }: { name: string }) => name === 'menus').configMap.name,
    'twinline-menus',
  );
  assert.equal(readConfig({ ...imageEnv, ...variables(template), ...KEYS }).problems, []);
});

test('menus of a ConfigMap are read, and an edit is served once Kubernetes has put it in its place', () =>
  withFolder(async (folder) => {
    const flow = JSON.parse(readFileSync(join(ROOT, 'menus/main.flow.json'), 'utf8')) as { version: number };
    const source = JSON.stringify(flow).replaceAll('./flow.schema.json', '../flow.schema.json');
    const menus = configMapVolume(folder, { 'main.flow.json': edited(source, 'First title') });
    const server = await startProcess({ DATA_DIR: ':memory:', MENUS_DIR: menus.folder, LOG_LEVEL: 'info' });
    try {
      let at = 0;
      const dial = async () =>
        (
          await ask(
            `${server.url}/api/ussd`,
            json({ ...DIAL, sessionId: `s${at++}`, phoneNumber: `+26097123${1000 + at}` }),
          )
        ).text;
      assert.match(await dial(), /^CON First title/);
      menus.update({ 'main.flow.json': edited(source, 'Second title') });
      await until('callers see the edited menu', async () => /^CON Second title/.test(await dial()));
    } finally {
      await server.kill();
    }
  }));

/** The first text of the shipped flow changed, under the next version. */
function edited(source: string, title: string): string {
  const flow = JSON.parse(source) as { start: string; version: number; screens: Record<string, { text: unknown }> };
  flow.version += title.startsWith('Second') ? 1 : 0;
  flow.screens[flow.start]!.text = title;
  return JSON.stringify(flow);
}

interface Volume {
  readonly folder: string;
  update(files: Readonly<Record<string, string>>): void;
}

/** Files as kubelet lays them out: links through `..data`, which is a link that an update replaces at once. */
function configMapVolume(parent: string, files: Readonly<Record<string, string>>): Volume {
  const folder = join(parent, 'menus');
  mkdirSync(folder);
  let count = 0;
  const update = (next: Readonly<Record<string, string>>) => {
    const data = `..2026_${count++}`;
    mkdirSync(join(folder, data));
    for (const [name, text] of Object.entries(next)) writeFileSync(join(folder, data, name), text);
    symlinkSync(data, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  update(files);
  for (const name of Object.keys(files)) symlinkSync(join('..data', name), join(folder, name));
  return { folder, update };
}

const variables = ({ spec }: Resource): Record<string, string> =>
  Object.fromEntries(spec.containers[0].env.map(({ name, value }: { name: string; value: string }) => [name, value]));

/** A strategic merge patch: objects are merged, lists by the name of their entries. */
function patched(target: Resource, patch: Resource): Resource {
  const merge = (one: unknown, other: unknown): unknown => {
    if (Array.isArray(one) && Array.isArray(other)) {
      const key = (entry: Resource) => entry.mountPath ?? entry.name;
      const rest = one.filter((entry) => !other.some((added) => key(added) === key(entry)));
      const same = (entry: Resource) => one.find((old) => key(old) === key(entry)) ?? {};
      return [...other.map((entry) => merge(same(entry), entry)), ...rest];
    }
    if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return other;
    const merged = Object.entries(other).map(([name, value]) => [name, merge((one as Resource)[name], value)]);
    return { ...one, ...Object.fromEntries(merged) };
  };
  return merge(target, patch) as Resource;
}

test.run();
