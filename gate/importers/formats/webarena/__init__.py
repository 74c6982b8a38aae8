"""Results of WebArena: recorded answers, folders of its own runner, episodes of BrowserGym."""
