// How /docs looks on a narrow screen, where the sheet of Swagger UI leaves no width for the descriptions of its sections.

export const SWAGGER_STYLE = `
@media (max-width: 768px) {
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-tag > a { flex: 1; min-width: 0; overflow-wrap: anywhere; }
  /* A line of its own below the name. */
  .swagger-ui .opblock-tag > small { flex: 1 0 100%; order: 1; padding: .3rem 0 0; overflow-wrap: anywhere; }
  /* Empty for sections without external documentation. */
  .swagger-ui .opblock-tag > div:empty { display: none; }
  /* No answer of ours has links, and the column is wider than the screen. */
  .swagger-ui .response-col_links { display: none; }
}
`;
