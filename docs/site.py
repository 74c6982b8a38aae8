"""What the site makes of pages that are written for GitHub.

A link out of docs/ leads to the repository, anchors are GitHub's, and each decision is in the menu
and says for whom it is. A link to a file that the repository does not have is a warning, at which a
strict build fails.
"""

import logging
import re
from pathlib import Path
from posixpath import join, normpath

DOCS = Path(__file__).parent
LINK = re.compile(r"(\]\(<?)((?!\w+:|#)[^()\s>#]+)")
FOR_WHOM = "For people who change Agent Gate."
log = logging.getLogger("mkdocs.hooks.site")  # below mkdocs: `--strict` counts its warnings
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_config(config):
    """Names each decision in the menu, by its title, and makes anchors as GitHub does."""
    pages = sorted((DOCS / "decisions").glob("*.md"))
    titles = {page: page.read_text(encoding="utf-8").partition("\n")[0] for page in pages}
    menu = [{title.removeprefix("# "): f"decisions/{page.name}"} for page, title in titles.items()]
    for part in config.nav:
        for entry in part.get("Explanation", ()):
            if "Decisions" in entry:
                entry["Decisions"] = menu
    config.mdx_configs["toc"]["slugify"] = make_slug
    return config


def make_slug(heading, separator):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def on_page_markdown(markdown, page, config, files):
    """Links to what is not of the site, such as code, lead to the repository."""
    folder = str(Path(page.file.src_uri).parent.as_posix())

    def lead(link):
        path = normpath(join("docs", folder, link[2]))
        if path == "docs/decisions":
            return link[1] + join(folder, "decisions/0001-python-versions.md")
        if path.startswith("docs/") and files.get_file_from_path(path.removeprefix("docs/")):
            return link[0]
        if path.startswith("..") or not (DOCS.parent / path).exists():
            log.warning("%s: link to %s, which is not in the repository", page.file.src_uri, path)
        return f"{link[1]}{config.repo_url}/blob/main/{path}"

    parts = FENCE.split(markdown)
    parts[::2] = [LINK.sub(lead, part) for part in parts[::2]]
    if folder == "decisions":
        parts[0] = parts[0].replace("\n", f"\n\n{FOR_WHOM}\n", 1)
    return "".join(parts)
