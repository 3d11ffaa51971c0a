// The types of @bufbuild/protobuf that our declarations use, for TypeScript below 5.7, which cannot read that package's own
// declarations. Newer versions get those: see `#protobuf` in package.json.

/** A field of a message type. */
export interface DescField {
  readonly kind: 'field';
  readonly name: string;
  readonly jsonName: string;
  readonly number: number;
}

/** A message type. */
export interface DescMessage {
  readonly kind: 'message';
  /** Qualified: `ixo.entity.v1beta1.Entity`. */
  readonly typeName: string;
  readonly fields: readonly DescField[];
}

/** A method of a service. */
export interface DescMethod {
  readonly kind: 'rpc';
  readonly name: string;
  /** The service. */
  readonly parent: { readonly typeName: string };
  readonly input: DescMessage;
  readonly output: DescMessage;
  readonly methodKind: 'unary' | 'server_streaming' | 'client_streaming' | 'bidi_streaming';
}

/** Types by name. */
interface TypeRegistry {
  readonly kind: 'registry';
  getMessage(typeName: string): DescMessage | undefined;
}

/** Types by name, and the `.proto` files that declare them. */
export interface FileRegistry extends TypeRegistry {
  readonly files: Iterable<{ readonly kind: 'file'; readonly name: string }>;
}

export type { TypeRegistry as Registry };
