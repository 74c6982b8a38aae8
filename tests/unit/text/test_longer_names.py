"""A phrase inside a longer name that means something else."""

import pytest

from gate.text.longer_names import find_longer

LONGER = [
    ("Georgia", "dedicated to Georgia O'Keeffe."),
    ("Paris", "Paris Hilton opened it"),
    ("Paris", "the Paris Agreement of 2015"),
    ("Marie Curie", "Pierre and Marie Curie University"),
    ("Mexico", "She moved to New Mexico."),
    ("Mexico", "The Gulf of Mexico is warm."),
    ("Ireland", "in Northern Ireland"),
    ("Washington", "the Washington Post"),
    ("London", "Jack London wrote it"),
    ("smoking", "a non-smoking room"),
    ("art", "a state-of-the-art system"),
]
ALONE = [
    ("Georgia", "Georgia Tech is in Atlanta, Georgia."),
    ("Georgia", "She flew to Georgia."),
    ("Paris", "They met in Paris France."),
    ("Marie Curie", "Marie Curie won two prizes."),
    ("Mexico", "a new Mexico office"),
    ("Obama", "President Barack Obama spoke"),
    ("Harvard", "She went to Harvard University."),
    ("New Mexico", "She moved to New Mexico."),
    ("Ireland", "the Republic of Ireland"),
    ("art", "the art of it"),
    ("NASA", "NASA Awards"),
    ("12", "12"),
    ("", "anything"),
]


@pytest.mark.parametrize(("phrase", "text"), LONGER)
def test_a_longer_name_is_found(phrase, text):
    assert find_longer(phrase, text)


@pytest.mark.parametrize(("phrase", "text"), ALONE)
def test_a_phrase_that_stands_for_itself(phrase, text):
    assert find_longer(phrase, text) is None
