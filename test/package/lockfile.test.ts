// package-lock.json fits package.json and every platform, names no private registry, and needs no install script.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { locked, manifest } from './manifest.ts';

const packages = Object.entries(locked).filter(([folder]) => folder !== '');

const test = suite('lockfile');

test('it lists the dependencies of package.json, each pinned exactly', () => {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  assert.equal(locked['']?.dependencies, dependencies);
  assert.equal(locked['']?.devDependencies, devDependencies);
  assert.equal(locked['']?.optionalDependencies, optionalDependencies);
  const loose = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }).filter(
    ([, range]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(range),
  );
  assert.equal(loose, []);
});

test('it lists the optional packages of every platform, without which npm ci refuses it', () => {
  const names = new Set(packages.map(([folder]) => folder.replace(/^.*node_modules\//, '')));
  const missing = packages.flatMap(([folder, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).flatMap((name) => (names.has(name) ? [] : [`${folder} → ${name}`])),
  );
  assert.equal(missing, []);
});

test('it names no registry: everybody installs from their own', () => {
  assert.equal(
    packages.filter(([, one]) => one.resolved !== undefined || one.link).map(([folder]) => folder),
    [],
  );
});

test('every install script is known and refused', () => {
  const scripted = packages
    .filter(([, one]) => one.hasInstallScript)
    .map(([folder]) => folder.replace(/^.*node_modules\//, ''));
  assert.equal(manifest.allowScripts, Object.fromEntries(scripted.map((name) => [name, false])));
});

test.run();
