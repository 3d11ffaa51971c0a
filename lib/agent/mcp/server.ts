// What is said of a server of MCP tools. Apart from its connection: declarations must not need those of the SDK, which is optional.

/** A server of MCP tools, and how it is reached. */
export interface McpServer {
  /** Lower-case letters, digits and dashes; goes before the names of tools that others have, too. */
  readonly name: string;
  /** Of its streamable HTTP endpoint. */
  readonly url: string;
  /** Go along with every request to it. */
  readonly headers?: { readonly [name: string]: string };
  /** The DID that tokens for it must name; without one, it is asked for at its own host. */
  readonly did?: string;
  /** Whose tools need a token of the user: all, or these. @default false */
  readonly protected?: boolean | readonly string[];
}

/** Whether this tool needs a token of the user who calls it. */
export function isProtected({ protected: which = false }: McpServer, tool: string): boolean {
  return typeof which === 'boolean' ? which : which.includes(tool);
}
