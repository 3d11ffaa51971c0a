// Functions that build lists step by step, such as a cart, and sum them up. Lists are copied, never changed in place.

import type { Json } from '../../json/json.ts';
import { FLOW_LIMITS } from '../limits.ts';
import { ARITHMETIC } from './decimal.ts';
import type { ExpressionFunction, Refuse } from './described.ts';
import { isRefusedName, isSame, member, nameKind } from './values.ts';

const CART = [
  { name: 'Maize', total: 2.2 },
  { name: 'Hoe', total: 3.5 },
];

export const LIST_FUNCTIONS = {
  append: {
    usage: 'append(list, value)',
    doc: `The list with one more element at its end; null counts as an empty list. More than ${FLOW_LIMITS.listItems} elements are an error.`,
    args: { list: 'a list or null; anything else is an error', value: 'any value' },
    examples: [
      ["append(basket, 'bread')", ['milk', 'bread'], { basket: ['milk'] }],
      ["append(null, object('name', 'Hoe'))", [{ name: 'Hoe' }]],
    ],
    arity: [2, 2],
    call: ([list = null, value = null], refuse) => {
      const elements = list === null ? [] : requireList('append', list, refuse);
      if (elements.length >= FLOW_LIMITS.listItems)
        return refuse(`append gives at most ${FLOW_LIMITS.listItems} elements.`);
      return [...elements, value];
    },
  },
  find: {
    usage: 'find(list, field, value)',
    doc: 'The first object of the list whose field is the same plain value; null when there is none.',
    args: { list: 'a list; anything else is an error', field: 'the name of a field', value: 'any value' },
    examples: [
      ["find(cart, 'name', 'Hoe')", { name: 'Hoe', total: 3.5 }, { cart: CART }],
      ["find(cart, 'name', 'Rake')", null, { cart: CART }],
    ],
    arity: [3, 3],
    call: ([list = null, field = null, value = null], refuse) =>
      requireList('find', list, refuse).find((element) => isSame(readField(element, field), value)) ?? null,
  },
  without: {
    usage: 'without(list, position) or without(list, field, value)',
    doc: 'The list without the element at this position, which begins at 0, or without the objects whose field is the same plain value.',
    args: {
      list: 'a list; anything else is an error',
      position: 'a number; anything else is an error',
      field: 'the name of a field',
      value: 'any value',
    },
    examples: [
      ['without(basket, 0)', ['bread'], { basket: ['milk', 'bread'] }],
      ["without(cart, 'name', line.name)", [{ name: 'Hoe', total: 3.5 }], { cart: CART, line: CART[0]! }],
    ],
    arity: [2, 3],
    call: ([list = null, place = null, value], refuse) => {
      const elements = requireList('without', list, refuse);
      if (value !== undefined) return elements.filter((element) => !isSame(readField(element, place), value));
      if (typeof place !== 'number') return refuse(`without takes a position, not ${nameKind(place)}.`);
      return elements.filter((_, at) => at !== place);
    },
  },
  sum: {
    usage: 'sum(list) or sum(list, field)',
    doc: 'The sum of the numbers of a list, or of one field of its objects; 0 for an empty list.',
    args: {
      list: 'a list of numbers, or of objects; anything else is an error',
      field: 'the name of a field with numbers',
    },
    examples: [
      ['sum(paid)', 0.3, { paid: [0.1, 0.2] }],
      ["sum(cart, 'total')", 5.7, { cart: CART }],
    ],
    arity: [1, 2],
    call: ([list = null, field], refuse) => {
      let total = 0;
      for (const element of requireList('sum', list, refuse)) {
        const value = field === undefined ? element : readField(element, field);
        if (typeof value !== 'number') return refuse(`sum adds numbers, not ${nameKind(value)}.`);
        total = ARITHMETIC['+'](total, value);
      }
      return Number.isFinite(total) ? total : refuse('the sum is too large.');
    },
  },
  object: {
    usage: 'object(name, value, ...)',
    doc: 'An object of these fields, each name before its value.',
    args: { name: 'a text', 'value...': 'any value, then the next name' },
    examples: [
      [
        "object('name', item.name, 'total', item.price * bags)",
        { name: 'Maize', total: 3.3 },
        { item: { name: 'Maize', price: 1.1 }, bags: 3 },
      ],
    ],
    arity: [2, 40],
    call: (args, refuse) => {
      const fields: { [name: string]: Json } = {};
      for (let at = 0; at < args.length; at += 2) {
        const name = args[at]!;
        if (typeof name !== 'string' || isRefusedName(name))
          return refuse('object takes names as texts, each before its value.');
        if (args[at + 1] === undefined) return refuse('object takes a value for each name.');
        fields[name] = args[at + 1]!;
      }
      return fields;
    },
  },
} satisfies { readonly [name: string]: ExpressionFunction };

function requireList(name: string, value: Json, refuse: Refuse): readonly Json[] {
  return Array.isArray(value) ? value : refuse(`${name} takes a list, not ${nameKind(value)}.`);
}

const readField = (element: Json, field: Json): Json => (typeof field === 'string' ? member(element, field) : null);
