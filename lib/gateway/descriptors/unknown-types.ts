// Names of message types that no descriptor declares, told while a message is read or written.

import type { Registry } from '@bufbuild/protobuf';

/** Is told of each, such as `cosmos.crypto.secp256k1.PubKey`; names come from messages and may be anything. */
export interface UnknownTypes {
  add(name: string): void;
}

/** The name of a type in its URL: what follows the last slash. */
export function typeNameIn(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

/** The same registry, which tells what is asked of it in vain. */
export function tellingRegistry(registry: Registry, unknown: UnknownTypes): Registry {
  return Object.assign(Object.create(registry) as Registry, {
    getMessage: (name: string) => {
      const found = registry.getMessage(name);
      if (!found) unknown.add(name);
      return found;
    },
  });
}
