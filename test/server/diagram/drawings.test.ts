// The diagrams of a running server: made once, made anew for another version, told apart by what they show.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DIAGRAM_LIMITS } from '../../../lib/diagram/limits.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { compileFlow } from '../../../lib/flow/run/compile.ts';
import { type Drawings, drawings, LIFECYCLES } from '../../../server/web/diagram/drawings.ts';
import { largeFlow, shipped } from '../../diagram/machines.ts';
import { flowOf, menuTo } from '../../flow/phone.ts';
import { sample } from '../../support/size.ts';

const test = suite('diagrams of a server');

const flows = new Map([...shipped, ['large', largeFlow(400)]]);
let service: Drawings;
test.before(() => {
  service = drawings({ served: () => flows });
});
test.after(() => service.close());

test('every machine is drawn for a page, whole when it is small enough', async () => {
  const machines = [...flows.keys(), ...Object.keys(LIFECYCLES)];
  assert.ok(machines.includes('assistant') && machines.includes('delegation'));
  const small = machines.filter((id) => id !== 'large');
  for (const id of sample(small, 2)) {
    const { svg, states, shown, focus } = await service.svg(id, { focus: 'home' });
    assert.match(svg, /^<svg [^>]*class="drawing"/);
    assert.not.match(svg, /<style/);
    assert.equal([shown, focus], [states, undefined]);
    assert.is(svg.match(/class="state[" ]/g)!.length, states);
  }
});

test('a large one is drawn around its focus', async () => {
  const { states, shown, focus, svg } = await service.svg('large', { focus: 's123' });
  assert.equal([states, focus], [401, 's123']);
  assert.ok(shown > 5 && shown <= DIAGRAM_LIMITS.drawnStates);
  assert.match(svg, /data-state="s123"/);
  assert.is((await service.svg('large')).focus, 's0');
});

test('the same is made once, another version anew', async () => {
  const asked = [service.svg('delegation'), service.svg('delegation')] as const;
  assert.is(asked[0], asked[1]);
  const [one] = await Promise.all(asked);
  flows.set('small', compileFlow(flowOf({ a: menuTo('a') }, { flow: 'small' })));
  const before = await service.svg('small');
  flows.set('small', compileFlow(flowOf({ a: menuTo('b'), b: menuTo('a') }, { flow: 'small' })));
  const after = await service.svg('small');
  assert.equal([before.states, after.states], [1, 2]);
  assert.is(await service.svg('delegation'), one);
});

test('a machine that is not there is named, with those that are', async () => {
  for (const id of ['mian', 'constructor', '__proto__']) {
    const error = await service.svg(id).catch((error: unknown) => error);
    assert.instance(error, TwinlineError);
    assert.is((error as TwinlineError).code, 'ERR_NOT_FOUND');
    assert.match((error as TwinlineError).message, /There are: assistant, main, wallet/);
  }
});

test.run();
