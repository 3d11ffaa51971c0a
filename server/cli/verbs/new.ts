// `twinline new`: a project that runs and is tested, to go on from.

import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { suggest } from '../../../lib/flow/expression/suggest.ts';
import { makeProject, TEMPLATES } from '../project.ts';
import { Usage, type Verb } from '../verb.ts';

const NAME = /^[a-z0-9][a-z0-9._-]{0,127}$/;

export const newVerb: Verb = {
  summary: 'Begin a project from a template, with tests that pass',
  usage: '<template> [folder] [options]',
  options: {
    ...Object.fromEntries(Object.entries(TEMPLATES).map(([name, words]) => [name, words])),
    '--name <name>': 'of its package; default the name of the folder',
    '(default)': 'a folder named as the template; one with something in it is refused',
  },
  run: async (args) => {
    const options = { name: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [template = '', place = template, ...more] = positionals;
    if (more.length) throw new Usage('Give a template and a folder.');
    const known = Object.keys(TEMPLATES);
    if (!known.includes(template))
      throw new Usage(template === '' ? 'Name a template.' : `No template "${template}".${suggest(template, known)}`);
    const folder = resolve(place);
    const name = values.name ?? basename(folder).toLowerCase();
    if (!NAME.test(name)) throw new Usage(`"${name}" is no name of a package: give one with --name, such as my-menus.`);
    for (const file of makeProject({ template, folder, name })) console.log(join(place, relative(folder, file)));
    console.log(`\nNext: cd ${place} && npm install && npm test && npm start`);
    return 0;
  },
};
