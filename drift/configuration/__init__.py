"""A team's set-up as one YAML file: written, read, compared, applied.

document    what the file can say
references  secrets by reference: ${NAME} or file:PATH
read        YAML -> document, each mistake with its place
current     what is stored -> document
difference  two documents -> changes, pure
apply       changes -> rows
write       document -> YAML
"""
