// Private variables: values that would be copied into something stored and shown in plain text. And variables that are kept between
// sessions.

import type { Screen, Variable } from '../../format/flow.ts';
import { DOOR_NAMES } from '../../format/names.ts';
import { capitalize, describePlace } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { durationMs } from '../../format/way.ts';
import { collectParts } from '../parts.ts';
import type { Lint, LintRule } from '../rule.ts';
import { findGiven, findKeeper } from './secrets.ts';
import { listGivenNames } from './variables.ts';

export const privateRules: readonly LintRule[] = [
  {
    code: 'private-secret',
    severity: 'error',
    means: 'a variable is both private and secret',
    *find({ vars }) {
      for (const [name, variable] of vars) {
        if (!variable.private || !variable.secret) continue;
        const message = `Variable "${name}" is private and secret: a secret is gone after its answer, so nothing of it is kept.`;
        yield {
          pointer: pointerTo('vars', name, 'private'),
          message,
          fix: 'Remove "private", or "secret" to keep it.',
        };
      }
    },
  },
  {
    code: 'private-copied',
    severity: 'warning',
    means: 'the value of a private variable is copied to one that is not private',
    *find(lint) {
      for (const part of lint.parts.expressions) {
        const name = part.role === 'value' ? findGiven(part, (one) => isPrivate(lint.vars.get(one))) : undefined;
        const keeper =
          name === undefined || typeof part.into !== 'object' ? undefined : findKeeper(lint, part, isHidden);
        if (keeper === undefined) continue;
        const message = `${capitalize(describePlace(part.pointer))} passes the private variable "${name}" to ${keeper}, which is not private.`;
        yield { pointer: part.pointer, message, fix: `Make ${keeper} private too: "private": true.` };
      }
      for (const { pointer, into, compiled } of lint.parts.wordings) {
        const name = compiled.ok
          ? compiled.value.paths.find(({ root }) => isPrivate(lint.vars.get(root)))?.root
          : undefined;
        const keeper =
          name === undefined || typeof into !== 'object' ? undefined : findKeeper(lint, { into }, isHidden);
        if (keeper === undefined) continue;
        const message = `${capitalize(describePlace(pointer))} passes the private variable "${name}" to ${keeper}, which is not private.`;
        yield { pointer, message, fix: `Make ${keeper} private too: "private": true.` };
      }
      for (const [id, screen] of lint.graph.screens) {
        const copy = findCopy(lint, screen, id);
        if (!copy) continue;
        const { name, save, path, from } = copy;
        const message = `Screen "${id}" saves ${from} "${name}" in "${save}", which is not private.`;
        yield {
          pointer: pointerTo('screens', id, ...path),
          message,
          fix: `Make "${save}" private too: "private": true.`,
        };
      }
    },
  },
];

/** Variables that are kept between sessions, and never are there. */
export const keptRules: readonly LintRule[] = [
  {
    code: 'keep-secret',
    severity: 'error',
    means: 'a secret variable has `keep`',
    *find({ vars }) {
      for (const [name, { keep, secret }] of vars) {
        if (keep === undefined || !secret) continue;
        const message = `Variable "${name}" is secret and has "keep": a secret is gone after its answer, so nothing of it is kept.`;
        yield { pointer: pointerTo('vars', name, 'keep'), message, fix: 'Remove "keep", and ask for it each time.' };
      }
    },
  },
  {
    code: 'keep-called',
    severity: 'warning',
    means: 'a flow that is only called has `keep` or `resume`, which are those of the flow that is dialled',
    *find({ flow, vars, isOnlyCalled }) {
      if (!isOnlyCalled) return;
      const places = [...vars].flatMap(([name, { keep }]) =>
        keep === undefined ? [] : [pointerTo('vars', name, 'keep')],
      );
      if (flow.limits?.resume !== undefined) places.push(pointerTo('limits', 'resume'));
      for (const pointer of places)
        yield {
          pointer,
          message: `${capitalize(describePlace(pointer))} has no effect: other flows call "${flow.flow}", and only the flow that is dialled has a memory.`,
          fix: 'Move it into the flow that is dialled: hand a value over by "with", and give it back by "output".',
        };
    },
  },
  {
    code: 'keep-lost',
    severity: 'warning',
    means:
      'what a variable keeps is never there: its door fills it, nothing changes it, or it is kept for less than a session',
    *find(lint) {
      const changed = new Set(listGivenNames(lint));
      const { limits = {} } = lint.flow;
      const session = durationMs(limits.session ?? '180s')!;
      for (const [name, { keep }] of lint.vars) {
        if (keep === undefined) continue;
        const why = Object.hasOwn(DOOR_NAMES, name)
          ? 'each dial fills it anew'
          : !changed.has(name)
            ? 'nothing changes it'
            : durationMs(keep)! <= session && `${keep} are over with the session itself`;
        if (!why) continue;
        const fix = why.endsWith('itself') ? 'Write a longer time, such as "400d".' : 'Remove "keep".';
        yield { pointer: pointerTo('vars', name, 'keep'), message: `What "${name}" keeps is never read: ${why}.`, fix };
      }
    },
  },
];

const isPrivate = (variable: Variable | undefined) => variable?.private === true;
const isHidden = (variable: Variable | undefined) => isPrivate(variable) || variable?.secret === true;

interface Copy {
  /** What is private. */
  readonly name: string;
  readonly save: string;
  readonly path: readonly string[];
  readonly from: string;
}

// An item of a private list, or the output of a called flow that contains one of its private variables.
function findCopy(lint: Lint, screen: Screen, id: string): Copy | undefined {
  const save = screen.type === 'list' ? screen.pick?.save : screen.type === 'flow' ? screen.save : undefined;
  if (save === undefined || isHidden(lint.vars.get(save))) return undefined;
  if (screen.type === 'list') {
    const items = lint.parts.expressions.find((part) => part.role === 'items' && part.screen === id);
    const name = items && findGiven(items, (one) => isPrivate(lint.vars.get(one)));
    return name === undefined
      ? undefined
      : { name, save, path: ['pick', 'save'], from: 'an item of the private variable' };
  }
  const called = screen.type === 'flow' ? lint.flows?.get(screen.flow) : undefined;
  if (!called) return undefined;
  for (const part of collectParts(called).expressions) {
    const name = part.into === 'output' ? findGiven(part, (one) => isPrivate(called.vars?.[one])) : undefined;
    if (name !== undefined)
      return { name, save, path: ['save'], from: `what the flow "${called.flow}" gives of its private` };
  }
  return undefined;
}
