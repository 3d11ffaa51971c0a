// Leads a way to another screen by dragging its arrow there. The same is done without a pointer by the form of the screen that it leaves.

import type { FlowForms } from '../../../../../lib/flow/editing/form-field.ts';
import type { FlowOperation } from '../../../../../lib/flow/editing/operations.ts';
import { element, findElement } from '../../element.ts';
import { post } from '../requests.ts';
import { openDialog } from './asking.ts';

/** An arrow that was dropped on another screen. */
export interface DroppedArrow {
  readonly from: string;
  /** Where it led. */
  readonly to: string;
  readonly next: string;
}

export interface RedirectOptions {
  /** The text in the editor. */
  readonly draft: () => { readonly flow: string; readonly text: string };
  readonly operate: (operation: FlowOperation) => Promise<string | undefined>;
  readonly tell: (words: string) => void;
}

/** Returns what leads a way elsewhere. Where an arrow stands for several ways, it asks which. */
export function redirector({ draft, operate, tell }: RedirectOptions): (arrow: DroppedArrow) => Promise<void> {
  const dialog = openDialog('which-way', { operate });
  const ways = findElement<HTMLSelectElement>('which-ways');
  const lead = (pointer: string, next: string): FlowOperation => ({ do: 'set', pointer, value: next });
  return async ({ from, to, next }) => {
    const found = await post<FlowForms>('/form', { ...draft(), pointer: `/screens/${from}` }).catch(() => undefined);
    const own = found?.form?.ways.filter((way) => way.to === to) ?? [];
    if (!own.length) return tell('This arrow is none of the ways of the screen: change it by its form.');
    const [only] = own;
    if (own.length === 1) return void (await operate(lead(only!.pointer, next)));
    findElement('which-title').textContent = `Lead to ${next}`;
    ways.replaceChildren(
      ...own.map(({ pointer, words }) => element('option', { text: words, is: { value: pointer } })),
    );
    dialog.ask(() => lead(ways.value, next));
  };
}

/** How far from an arrow a pointer may be, in pixels. */
const REACH = [0, -5, 5];

/** Lets arrows of the drawing in a box be dragged by a mouse or a pen; a finger scrolls it. */
export function startDragging(box: HTMLElement, onDrop: (arrow: DroppedArrow) => void): void {
  let dragged: { readonly edge: Element; readonly line: SVGLineElement; readonly svg: SVGSVGElement } | undefined;

  const place = (svg: SVGSVGElement, { clientX: x, clientY: y }: PointerEvent) =>
    new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()!.inverse());
  const findTarget = ({ clientX, clientY }: PointerEvent): Element | undefined => {
    const state = document.elementFromPoint(clientX, clientY)?.closest('.state');
    return state && box.contains(state) && isOwn(state.getAttribute('data-state')) ? state : undefined;
  };
  const stop = () => {
    dragged?.line.remove();
    for (const old of box.querySelectorAll('.drop')) old.classList.remove('drop');
    dragged?.edge.classList.remove('dragged');
    dragged = undefined;
  };

  box.addEventListener('pointerdown', (event) => {
    const edge = event.button === 0 && event.pointerType !== 'touch' ? findEdge(box, event) : undefined;
    const svg = edge?.closest('svg');
    if (!edge || !svg) return;
    event.preventDefault();
    const { x, y } = place(svg, event);
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
    for (const end of ['1', '2']) {
      line.setAttribute(`x${end}`, String(x));
      line.setAttribute(`y${end}`, String(y));
    }
    line.classList.add('dragging');
    svg.append(line);
    edge.classList.add('dragged');
    dragged = { edge, line, svg };
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener('pointermove', (event) => {
    if (!dragged) {
      box.classList.toggle('over-arrow', findEdge(box, event) !== undefined);
      return;
    }
    const { x, y } = place(dragged.svg, event);
    dragged.line.setAttribute('x2', String(x));
    dragged.line.setAttribute('y2', String(y));
    const target = findTarget(event);
    for (const old of box.querySelectorAll('.drop')) if (old !== target) old.classList.remove('drop');
    target?.classList.add('drop');
  });
  box.addEventListener('pointerup', (event) => {
    if (!dragged) return;
    const [from, to] = ['data-from', 'data-to'].map((name) => dragged!.edge.getAttribute(name)!);
    const next = findTarget(event)?.getAttribute('data-state');
    stop();
    if (next && next !== to) onDrop({ from: from!, to: to!, next });
  });
  box.addEventListener('pointercancel', stop);
  addEventListener('keydown', ({ key }) => key === 'Escape' && stop());
}

/** An arrow between screens of the draft itself, at a pointer or near it. */
function findEdge(box: HTMLElement, { clientX, clientY }: PointerEvent): Element | undefined {
  for (const x of REACH)
    for (const y of REACH) {
      const found = document.elementFromPoint(clientX + x, clientY + y);
      if (found?.closest('.state')) return undefined;
      const edge = found?.closest('.edge');
      if (edge && box.contains(edge)) return isOwn(edge.getAttribute('data-from')) ? edge : undefined;
    }
  return undefined;
}

// Those of called flows have a dot.
const isOwn = (state: string | null): state is string => state !== null && !/[.$]/.test(state);
