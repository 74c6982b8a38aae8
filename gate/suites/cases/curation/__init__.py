"""The dataset as an artifact: cases proposed, without personal data or doubles; approved by people;
counted.
"""
