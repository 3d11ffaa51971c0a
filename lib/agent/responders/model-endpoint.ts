// An OpenAI-compatible endpoint: its address, and what proves that we may ask it.

/** What to ask, and as whom. */
export interface ModelEndpoint {
  /** With its `/v1`; may hold a user and a password, and a query that goes along with every request. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
}

/** The endpoint as the SDK takes it: fetch refuses addresses with passwords, so they go into a header. */
export function providerSettings({ baseUrl, apiKey }: ModelEndpoint) {
  const url = new URL(baseUrl);
  const { username, password, searchParams } = url;
  const queryParams = Object.fromEntries(searchParams);
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const authorization = apiKey ? `Bearer ${apiKey}` : username || password ? `Basic ${basic}` : undefined;
  return {
    name: 'model',
    baseURL: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    headers: authorization === undefined ? {} : { authorization },
    includeUsage: true,
    ...(Object.keys(queryParams).length > 0 && { queryParams }),
  };
}

/** The address of the endpoint's list of models, with the headers to ask it. */
export function modelListRequest(endpoint: ModelEndpoint): { url: URL; headers: { [name: string]: string } } {
  const { baseURL, headers, queryParams = {} } = providerSettings(endpoint);
  const url = new URL(`${baseURL}/models`);
  url.search = new URLSearchParams(queryParams).toString();
  return { url, headers };
}
