// The form that registers a twin from a protocol, with fields for its properties.

import { element } from '../element.ts';
import { askJson, type Protocol, type RecordPage, type Twin } from './client.ts';
import { card } from './twin.ts';

export const TYPES = ['Organisation', 'Project', 'Device', 'Asset', 'Oracle'];

/** The form. Rejects like `ask`. */
export async function newTwin(): Promise<HTMLElement> {
  const protocols = (await askJson<RecordPage<Protocol>>('GET /v1/protocols?limit=200')).items;
  const type = element('input', { is: { list: 'types', required: true, value: 'Project' } });
  const protocol = element(
    'select',
    { is: { required: true } },
    protocols.map(({ did, name }) => element('option', { text: name, is: { value: did } })),
  );
  const name = element('input', { is: { required: true, maxlength: 200 } });
  const description = element('input', { is: { maxlength: 2_000 } });
  const place = element('div', { class: 'fields stack' });
  const notice = element('p', { class: 'notice bad', is: { role: 'alert' } });
  let inputs: readonly (readonly [string, HTMLInputElement])[] = [];

  function showProperties(): void {
    const chosen = protocols.find(({ did }) => did === protocol.value);
    inputs = Object.entries(chosen?.properties ?? {}).map(([field, kind]) => {
      const words = typeof kind === 'string' ? kind : 'JSON';
      return [field, element('input', { is: { placeholder: words, 'data-kind': words } })] as const;
    });
    place.replaceChildren(...inputs.map(([field, input]) => addLabel(field, input)));
  }

  async function register(event: Event): Promise<void> {
    event.preventDefault();
    try {
      const filled = inputs.filter(([, { value }]) => value.trim() !== '');
      const properties = Object.fromEntries(filled.map(([field, input]) => [field, readValue(field, input)]));
      const metadata = {
        name: name.value.trim(),
        ...(description.value.trim() && { description: description.value.trim() }),
      };
      const body = { type: type.value.trim(), class: protocol.value, metadata, properties };
      const { did } = await askJson<Twin>('POST /v1/domains', { body });
      location.hash = `#/twin/${encodeURIComponent(did)}`;
    } catch (error) {
      notice.textContent = (error as Error).message;
    }
  }

  protocol.addEventListener('change', showProperties);
  showProperties();
  if (protocols.length === 0)
    return card('Register a twin', ['There are no protocols yet. Create one with POST /v1/protocols.']);
  return card('Register a twin', [
    element('form', { class: 'fields stack', on: { submit: register } }, [
      addLabel('Type', type),
      element(
        'datalist',
        { is: { id: 'types' } },
        TYPES.map((one) => element('option', { text: one })),
      ),
      addLabel('Protocol', protocol),
      addLabel('Name', name),
      addLabel('Description', description),
      place,
      element('button', { class: 'primary', text: 'Register', is: { type: 'submit' } }),
    ]),
    notice,
  ]);
}

const addLabel = (words: string, input: HTMLElement) => element('label', { class: 'stack' }, [words, input]);

// Strings are taken as they are, other values are JSON.
function readValue(field: string, { value, dataset }: HTMLInputElement): unknown {
  if (dataset.kind === 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    throw new Error(`${field}: ${JSON.stringify(value)} is not a valid ${dataset.kind}.`);
  }
}
