"""A phrase inside a longer name that means something else."""

import pytest

from gate.text.longer_names import without_longer

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
    ("state", "a state-of-the-art system"),
    ("gluten", "gluten-free bread"),
    ("Parkinson", "the Wolff-Parkinson-White syndrome"),
    ("Holstein", "in Schleswig-Holstein"),
    ("Hodgkin", "a non-Hodgkin lymphoma"),
    ("Baden", "aus Baden-Württemberg"),
    ("Anna Schmidt", "to Anna Schmidt-Lorenz"),
    ("Marlene Dietrich", "am Marlene-Dietrich-Platz"),
    ("Chicago", "the University of Chicago"),
    ("Kells", "to see the Book of Kells"),
    ("Paris", "étudié à l'Université de Paris"),
    ("Lissabon", "der Vertrag von Lissabon"),
    ("Chicago", "the Chicago Bulls won"),
    ("Marie Curie", "the Marie Curie Actions programme"),
    ("Hollow Knight", "try Hollow Knight: Silksong."),
    ("Turkey", "a turkey sandwich"),
    ("US", "write to us"),
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
    ("Ada Lovelace", "It was Ada Lovelace: She wrote the first one."),
    ("Parkinson", "die Parkinson-Krankheit"),
    ("Paris", "a Paris-based firm"),
    ("Texas", "in the State of Texas"),
    ("Anna Schmidt", "Anna Schmidt On Monday"),
    ("Metformin", "He takes metformin."),
    ("US", "in the US market"),
    ("NASA", "NASA Awards"),
    ("12", "12"),
    ("", "anything"),
]


@pytest.mark.parametrize(("phrase", "text"), LONGER)
def test_a_longer_name_is_found(phrase, text):
    assert phrase not in without_longer(phrase, text)


@pytest.mark.parametrize(("phrase", "text"), ALONE)
def test_a_phrase_that_stands_for_itself(phrase, text):
    assert without_longer(phrase, text) == text
