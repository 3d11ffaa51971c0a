// The chart for Kubernetes, as Helm renders it: of the shapes that its API declares, with probes, drain, limits and menus that fit the server.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse, parseAllDocuments } from 'yaml';
import { longestStopMs } from '../../server/boot/process.ts';
import { readConfig } from '../../server/config/config.ts';
import { SETTINGS, type SettingName } from '../../server/config/settings.ts';
import { ALERTS_FILE } from '../guides/metrics.ts';
import { ask, DIAL, json } from '../server/support/serve.ts';
import { TSC } from '../support/build.ts';
import { helm } from '../support/helm.ts';
import { startProcess, withFolder } from '../support/process.ts';
import { until } from '../support/until.ts';
import { environmentOf, stages } from './dockerfile.ts';
import { KEYS } from './keys.ts';
import { manifest, ROOT } from './manifest.ts';

const test = suite('Kubernetes');

const read = (name: string) => readFileSync(join(ROOT, 'server/deploy', name), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: the shapes are Kubernetes'; the first test checks them.
type Resource = Readonly<Record<string, any>>;
const CHART = join(ROOT, 'server/deploy/helm');
const MANY = ['-f', join(CHART, 'values-many.yaml')];

/** What the chart installs with these options of Helm. */
function render(...options: readonly string[]): readonly Resource[] {
  const { status, out, err } = helm('template', 'mobile', CHART, '--kube-version', '1.30', ...options);
  assert.is(status, 0, err);
  return parseAllDocuments(out).map((document): Resource => {
    assert.equal([...document.errors, ...document.warnings], []);
    return document.toJS() as Resource;
  });
}

const ofKind = (resources: readonly Resource[], kind: string): Resource =>
  resources.find((resource) => resource.kind === kind)!;
const podOf = (resources: readonly Resource[]): Resource => ofKind(resources, 'Deployment').spec.template;
/** What the image sets. */
const imageEnv = environmentOf(stages(read('Dockerfile')).at(-1)!);

/** Where the types of each kind are. */
const TYPES: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  Service: 'core/v1',
  PersistentVolumeClaim: 'core/v1',
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

test('the chart passes helm lint, and values that cannot be are refused', () => {
  const lint = helm('lint', '--strict', CHART);
  assert.is(lint.status, 0, lint.out + lint.err);
  const version = (parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as Resource).appVersion;
  assert.is(version, manifest.version);
  for (const wrong of ['image=twinline:latest', 'secret=', 'replicas.min=0', 'replica=3', 'env.PORT=3000']) {
    const { status, err } = helm('template', 'mobile', CHART, '--kube-version', '1.30', '--set', wrong);
    assert.is.not(status, 0, wrong);
    assert.match(err, /schema|additional/i, wrong);
  }
});

test('all resources are of the shapes that the API of Kubernetes declares, for one instance and for many', () => {
  const [one, many] = [render(), render(...MANY, '--set', 'menus=twinline-menus')];
  const kinds = (resources: readonly Resource[]) => resources.map(({ kind }) => kind).sort();
  assert.equal(kinds(one), ['Deployment', 'PersistentVolumeClaim', 'Service']);
  assert.equal(kinds(many), ['Deployment', 'HorizontalPodAutoscaler', 'PodDisruptionBudget', 'Service']);
  assert.is(problemsOf([...one, ...many]), '');
});

test('pods run as nobody, are asked where the server answers, and have their secrets from a Secret', () => {
  for (const resources of [render(), render(...MANY)]) {
    const pod = podOf(resources);
    const [container] = pod.spec.containers;
    assert.is(pod.spec.securityContext.runAsNonRoot, true);
    assert.equal(container.securityContext.capabilities, { drop: ['ALL'] });
    assert.is(container.securityContext.readOnlyRootFilesystem, true);
    for (const probe of ['startupProbe', 'livenessProbe']) assert.is(container[probe].httpGet.path, '/livez');
    assert.is(container.readinessProbe.httpGet.path, '/readyz');
    const port = (name: string) => container.ports.find((one: { name: string }) => one.name === name).containerPort;
    assert.is(port('http'), Number(imageEnv.PORT));
    assert.is(String(port('metrics')), variables(pod).METRICS_PORT);
    assert.equal(container.envFrom, [{ secretRef: { name: 'twinline' } }]);
    for (const name of Object.keys(variables(pod))) assert.not.ok('secret' in SETTINGS[name as SettingName], name);
    assert.equal(ofKind(resources, 'Service').spec.selector, pod.metadata.labels);
    assert.equal(ofKind(resources, 'Deployment').spec.selector.matchLabels, pod.metadata.labels);
  }
});

test('a pod has time to drain: the Service forgets it while it still answers, and nobody kills it before it has ended', () => {
  for (const options of [MANY, ['--set-string', 'env.DRAIN_DELAY_MS=12000']]) {
    const pod = podOf(render(...options));
    const { config, problems } = readConfig({ ...imageEnv, ...variables(pod), ...KEYS });
    assert.equal(problems, []);
    for (const name of Object.keys(variables(pod))) assert.ok(name in SETTINGS, name);
    const [{ readinessProbe, lifecycle }] = pod.spec.containers;
    assert.ok(config!.drainDelayMs > readinessProbe.periodSeconds * readinessProbe.failureThreshold * 1_000);
    assert.ok(pod.spec.terminationGracePeriodSeconds * 1_000 > longestStopMs(config!));
    assert.is(lifecycle, undefined, 'a preStop would only add to it');
  }
});

test('one instance keeps its data on a volume and is never two; many come by load, go one by one, and none keeps data', () => {
  const [one, many] = [render(), render(...MANY)];
  assert.equal(ofKind(one, 'Deployment').spec.strategy, { type: 'Recreate' });
  const volume = podOf(one).spec.volumes.find(({ name }: { name: string }) => name === 'data');
  assert.is(volume.persistentVolumeClaim.claimName, ofKind(one, 'PersistentVolumeClaim').metadata.name);
  const { scaleTargetRef, minReplicas, maxReplicas, behavior } = ofKind(many, 'HorizontalPodAutoscaler').spec;
  const { kind, metadata, spec } = ofKind(many, 'Deployment');
  assert.equal([scaleTargetRef.kind, scaleTargetRef.name], [kind, metadata.name]);
  assert.is(spec.replicas, undefined, 'or each upgrade would undo the autoscaler');
  assert.ok(minReplicas >= 3 && maxReplicas > minReplicas);
  assert.equal(behavior.scaleDown.policies, [{ type: 'Pods', value: 1, periodSeconds: 60 }]);
  assert.is(ofKind(many, 'PodDisruptionBudget').spec.maxUnavailable, 1);
  assert.equal(ofKind(many, 'PodDisruptionBudget').spec.selector.matchLabels, podOf(many).metadata.labels);
});

test('the Prometheus Operator gets the port of the metrics, the job that alerts name, and the alerts as they are shipped', () => {
  const resources = render(
    ...MANY,
    '--set',
    'monitoring.enabled=true',
    '--set',
    'monitoring.labels.release=prometheus',
  );
  const [monitor, rule] = [ofKind(resources, 'ServiceMonitor'), ofKind(resources, 'PrometheusRule')];
  const service = ofKind(resources, 'Service');
  assert.is(monitor.metadata.labels.release, 'prometheus');
  assert.ok(service.spec.ports.some(({ name }: { name: string }) => name === monitor.spec.endpoints[0].port));
  assert.is(service.metadata.labels[monitor.spec.jobLabel], 'twinline');
  for (const [label, value] of Object.entries(monitor.spec.selector.matchLabels))
    assert.is(service.metadata.labels[label], value);
  assert.equal(rule.spec.groups, (parse(readFileSync(join(ROOT, ALERTS_FILE), 'utf8')) as Resource).groups);
});

test('with menus, those of the ConfigMap are served', () => {
  const pod = podOf(render('--set', 'menus=twinline-menus'));
  const ofMenus = ({ name }: { name: string }) => name === 'menus';
  assert.is(pod.spec.containers[0].volumeMounts.find(ofMenus).mountPath, variables(pod).MENUS_DIR);
  assert.is(pod.spec.volumes.find(ofMenus).configMap.name, 'twinline-menus');
  assert.equal(readConfig({ ...imageEnv, ...variables(pod), ...KEYS }).problems, []);
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

test.run();
