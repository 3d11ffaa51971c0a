// How guides and references look, beside what all pages have.

export const GUIDE_STYLE = `
main:has(.guide) { max-width: 56rem; }
.guide h2 { font-size: 1.3rem; margin: 2rem 0 .5rem; scroll-margin-top: 1rem; }
.guide h3 { font-size: 1.05rem; margin: 1.5rem 0 .25rem; scroll-margin-top: 1rem; }
section.guide h2 { margin-top: 0; }
.guide p, .guide li { max-width: 44rem; }
.guide li { margin: .25rem 0; }
.guide :not(pre) > code { background: var(--quote); border-radius: 5px; padding: .1em .35em; }
.guides { list-style: none; padding: 0; }
.guides li { padding: .6rem 0; border-top: 1px solid var(--edge); }
.guides li:first-child { border-top: 0; }
.guides a { font-weight: 600; font-size: 1.05rem; text-decoration: none; }
.guides span { display: block; color: var(--soft); }
.code { margin: .75rem 0; border: 1px solid var(--edge); border-radius: 10px; overflow: hidden; }
.code figcaption {
  background: var(--quote); border-bottom: 1px solid var(--edge); color: var(--soft); padding: .3rem .9rem;
  font: 500 .82rem ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
.code pre { margin: 0; padding: .8rem .9rem; overflow-x: auto; font-size: .84rem; line-height: 1.5; background: var(--quote); }
.code code { font-size: inherit; }
.table { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th { text-align: left; color: var(--soft); font-weight: 600; }
th, td { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--edge); vertical-align: top; }
td:first-child { white-space: nowrap; }
blockquote { border-left: 4px solid var(--accent); }
blockquote p { margin: 0; }
`;
