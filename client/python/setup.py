"""Marks the wheel as made for one interpreter and machine: the native module is built already."""

import setuptools


class BuiltDistribution(setuptools.Distribution):
    def has_ext_modules(self):
        return True


setuptools.setup(distclass=BuiltDistribution)
