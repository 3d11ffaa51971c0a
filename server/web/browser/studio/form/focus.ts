// Keeps the focus in fields that are made anew.

/** Notes where the focus is, and what is half typed there. The function that it returns finds the place again. */
export function keepFocus(fields: HTMLElement): () => void {
  const { scrollTop } = fields;
  const active = document.activeElement;
  if (!(active instanceof HTMLElement) || !fields.contains(active)) return () => {};
  const { at } = active.dataset;
  const typed = isTyped(active) ? active : undefined;
  const isChanged = typed !== undefined && typed.value !== typed.dataset.first;
  return () => {
    fields.scrollTop = scrollTop;
    const next =
      at === undefined ? null : (findPlace(fields, at) ?? findPlace(fields, at.replace(/#(up|down)$/, swapMove)));
    for (let box = next?.closest('details'); box; box = box.parentElement?.closest('details')) box.open = true;
    next?.focus({ preventScroll: true });
    if (!typed || !next || !isTyped(next)) return;
    if (isChanged && next.dataset.first === typed.dataset.first) {
      next.value = typed.value;
      changeOnLeaving(next);
    }
    next.setSelectionRange(typed.selectionStart, typed.selectionEnd);
    // What was offered for it, such as completions, is gone with the old field.
    if (next.value === typed.value && isChanged) next.dispatchEvent(new Event('input'));
  };
}

// The browser tells of no change to what a script has written: left as it is now, the field has changed all the same.
function changeOnLeaving(field: HTMLInputElement | HTMLTextAreaElement): void {
  let isTold = false;
  field.addEventListener('change', () => (isTold = true), { once: true });
  const tell = () => isTold || field.value === field.dataset.first || field.dispatchEvent(new Event('change'));
  field.addEventListener('blur', tell, { once: true });
}

const findPlace = (fields: HTMLElement, at: string) =>
  fields.querySelector<HTMLElement>(`[data-at="${CSS.escape(at)}"]`);

// The first part of a list cannot be moved up, nor the last one down.
const swapMove = (sign: string) => (sign === '#up' ? '#down' : '#up');

/** Lets the focus, and what is open, go with a part of a list that changes places with another one. */
export function followMove(from: string, to: string, open: Set<string>): void {
  const moved = (place: string) =>
    place.startsWith(`${from}#`)
      ? to + place.slice(from.length)
      : place.startsWith(`${to}#`)
        ? from + place.slice(to.length)
        : place;
  const places = [...open].map(moved);
  open.clear();
  for (const place of places) open.add(place);
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLElement)) return;
  const { at } = activeElement.dataset;
  if (at?.startsWith(from)) activeElement.dataset.at = to + at.slice(from.length);
}

function isTyped(element: HTMLElement): element is HTMLInputElement | HTMLTextAreaElement {
  return element instanceof HTMLTextAreaElement || (element instanceof HTMLInputElement && element.type === 'text');
}
